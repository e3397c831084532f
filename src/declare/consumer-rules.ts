import { type Diagnostic, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import { backoffRules, warnOfMissingAttempts, warnOfWeeks } from "./backoff-rules.ts";
import { formatDurationMs, parseDurationMs } from "./duration.ts";
import type { ConsumerOutput } from "./schema.ts";
import { fromExpression } from "./literal-texts.ts";
import { limits } from "./schema-parts.ts";
import type { HeadersMatch } from "./system.ts";

/** A consumer without its faulty fields. */
type SoundConsumer = { readonly [Field in keyof ConsumerOutput]?: ConsumerOutput[Field] | undefined };

/**
 * The rules across several fields of a consumer, or across the consumer and its sources.
 *
 * @param isSound true if a field satisfies its schema; a faulty field counts as given
 */
export function consumerRules(
  name: string,
  consumer: SoundConsumer,
  sources: { readonly [name: string]: unknown },
  isSound: (field: string) => boolean = () => true,
): Diagnostic[] {
  return [
    ...sourceRules(name, consumer, sources, isSound),
    ...deliveryRules(name, consumer, isSound),
    ...(consumer.retry === undefined ? [] : retryRules(name, consumer.retry)),
    ...durationRules(name, consumer),
    ...errorRules(name, consumer),
  ];
}

/** `consume` compares whole names, so a pattern would match no error, and every error would be retried. */
function errorRules(name: string, { errors }: SoundConsumer): Diagnostic[] {
  return (errors?.permanent ?? []).flatMap((each, index) =>
    /\*|^\/.*\/\w*$/.test(each)
      ? diagnosed("RD111", {
          path: ["consumers", name, "errors", "permanent", index],
          message: `${JSON.stringify(each)} is a pattern, and names of errors are compared whole`,
          value: each,
          help: "list the names of the errors, such as ValidationError",
        })
      : [],
  );
}

function sourceRules(
  name: string,
  { from, delivery }: SoundConsumer,
  sources: { readonly [name: string]: unknown },
  isSound: (field: string) => boolean,
): Diagnostic[] {
  const path = ["consumers", name, "from"];
  const isPerInstance = delivery === "every-instance";
  if (from === undefined && !(isPerInstance && isSound("from"))) return [];
  const entries = Object.entries(from ?? {});
  const declared = Object.keys(sources);
  if (entries.length === 0) {
    return diagnosed("RD109", {
      path,
      message: `consumer ${name} takes nothing from any source`,
      notes: isPerInstance ? ["the queue of an instance has no name that a producer could send to"] : [],
      help: `add a source and its routing keys, for example from: { ${declared[0] ?? "orders"}: ["order.placed"] }${isPerInstance ? "" : ", or leave from out if producers send straight to the work queue"}`,
    });
  }
  return entries.flatMap(([source, keys]) => {
    if (!Object.hasOwn(sources, source)) {
      return diagnosed("RD108", {
        path: [...path, source],
        message: `no source named ${JSON.stringify(source)} is declared`,
        notes: [declared.length === 0 ? "sources is empty" : `declared are ${declared.join(", ")}`],
        help:
          nearest(source, declared) ??
          `add it to sources, for example sources: { ${JSON.stringify(source)}: { kind: "topic" } }`,
      });
    }
    const kind = (sources[source] as { kind?: unknown } | undefined)?.kind;
    return routingKeyRules([...path, source], keys, kind);
  });
}

function routingKeyRules(path: string[], keys: readonly string[] | "all" | HeadersMatch, kind: unknown): Diagnostic[] {
  const isMatch = keys !== "all" && !Array.isArray(keys);
  if (isMatch || kind === "headers")
    return keys === "all" ? [] : headersRules(path, keys as HeadersMatch, kind, isMatch);
  if (keys === "all") {
    if (kind !== "direct" && kind !== "opaque") return [];
    return diagnosed("RD110", {
      path,
      message: `a source of kind ${kind} cannot be taken as "all": its bindings have keys`,
      value: keys,
      help: "list the routing keys, or make the source a topic or a fanout",
    });
  }
  if (kind === "fanout") {
    return diagnosed("RD110", {
      path,
      message: "a fanout source ignores routing keys, so the list would filter nothing",
      value: keys,
      help: 'write "all", or make the source a topic',
    });
  }
  if (keys.length === 0) {
    return diagnosed("RD109", {
      path,
      message: "the list of routing keys is empty, so nothing would arrive",
      value: keys,
      help: 'list at least one routing key, or write "all"',
    });
  }
  return keys.flatMap((key, index) => {
    const problem = routingKeyProblem(key, index, keys, kind);
    return problem === undefined ? [] : diagnosed("RD110", { path: [...path, index], value: key, ...problem });
  });
}

function headersRules(path: string[], value: HeadersMatch, kind: unknown, isMatch: boolean): Diagnostic[] {
  if (!isMatch) {
    return diagnosed("RD110", {
      path,
      message: "a headers source ignores routing keys, so the list would filter nothing",
      value,
      help: 'write "all", or the headers, for example { match: "all", headers: { type: "invoice" } }',
    });
  }
  if (kind !== "headers") {
    return diagnosed("RD110", {
      path,
      message: `a ${String(kind)} source does not look at headers`,
      value,
      help: 'list routing keys, or give the source kind: "headers"',
    });
  }
  const names = Object.keys(value.headers);
  if (names.length === 0) {
    return diagnosed("RD109", { path, message: "no header is named", value, help: 'name one, or write "all"' });
  }
  if (value.match.endsWith("-with-x")) return [];
  return names
    .filter((header) => header.startsWith("x-"))
    .map((header) =>
      diagnostic("RD110", {
        path: [...path, "headers", header],
        message: `match "${value.match}" ignores headers whose names begin with x-`,
        value: value.headers[header],
        help: `write match: "${value.match}-with-x"`,
      }),
    );
}

function routingKeyProblem(
  key: string,
  index: number,
  keys: readonly string[],
  kind: unknown,
): { message: string; help: string } | undefined {
  if (keys.indexOf(key) !== index) {
    return { message: `${JSON.stringify(key)} is listed twice`, help: "remove one of the two" };
  }
  const bytes = Buffer.byteLength(key);
  if (bytes > 255) {
    return { message: `the routing key has ${bytes} bytes; 255 are allowed`, help: "shorten it" };
  }
  const words = key.split(".");
  if (kind === "direct" && words.some((word) => word === "*" || word === "#")) {
    return {
      message: "a direct source matches whole routing keys; * and # mean themselves there",
      help: "make the source a topic, or list the routing keys",
    };
  }
  if (kind === "topic" && words.includes(">")) {
    return {
      message: "> is a wildcard of NATS; here # takes any number of words",
      help: `write ${JSON.stringify(words.map((word) => (word === ">" ? "#" : word)).join("."))}`,
    };
  }
  if (kind === "topic" && words.some((word) => word.length > 1 && /[*#]/.test(word))) {
    const pattern = fromExpression(key) ?? wholeWildcards(words);
    return {
      message: "* and # are wildcards only as whole words between dots",
      help: `write ${JSON.stringify(pattern)}, or list the routing keys`,
    };
  }
  return undefined;
}

/** The pattern with a wildcard in place of each word that has one in it. It takes more than the user's. */
function wholeWildcards(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const text = word.replaceAll(/[*#]/g, "");
      if (text === word || word.length === 1) return word;
      if (text === "") return "#";
      return index === 0 ? `${text}${words.length === 1 ? ".#" : ""}` : "*";
    })
    .join(".");
}

function deliveryRules(name: string, consumer: SoundConsumer, isSound: (field: string) => boolean): Diagnostic[] {
  if (!isSound("delivery")) return [];
  if (consumer.delivery !== "every-instance") {
    if (consumer.retry !== undefined || !isSound("retry")) return [];
    return diagnosed("RD101", {
      path: ["consumers", name, "retry"],
      message: "retry is missing",
      notes: ["a work queue without a retry policy would lose or repeat the messages that its handler cannot process"],
      help: 'add retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } }',
    });
  }
  const protocol =
    consumer.protocol === "amqp-1.0"
      ? diagnosed("RD112", {
          path: ["consumers", name, "protocol"],
          message: 'delivery "every-instance" exists for amqp-0-9-1 alone',
          value: consumer.protocol,
          notes: ["each instance declares its own queue, which AMQP 1.0 clients do in other ways"],
          help: 'remove protocol, or use delivery: "work-queue"',
        })
      : [];
  const notKept = (["queue", "formerly", "queueArguments", "retry", "crash", "errors", "deadLetter"] as const)
    .filter((key) => consumer[key] !== undefined)
    .map((key) =>
      diagnostic("RD112", {
        path: ["consumers", name, key],
        message: `${key} cannot be kept with delivery "every-instance"`,
        value: consumer[key],
        notes: ["an instance's own queue ends with the instance and loses its messages, so nothing can be retried"],
        help: `remove ${key}, or use delivery: "work-queue"`,
      }),
    );
  return [...notKept, ...protocol];
}

function retryRules(name: string, retry: NonNullable<ConsumerOutput["retry"]>): Diagnostic[] {
  const path = ["consumers", name, "retry"];
  const refused = backoffRules(path, retry);
  const diagnostics =
    refused.length > 0 ? refused : [...warnOfWeeks(path, retry), ...warnOfMissingAttempts(path, retry)];
  if (retry.retryAfter !== undefined) {
    const maxMs = parseDurationMs(retry.retryAfter.max);
    // Zero and below are out of range for every duration. Another rule reports them with the others.
    if (maxMs >= 1 && maxMs < 1_000) {
      diagnostics.push(
        diagnostic("RD105", {
          path: [...path, "retryAfter", "max"],
          message: `${formatDurationMs(maxMs)} is too short for a delay that a handler asks for`,
          value: retry.retryAfter.max,
          help: "choose at least 1s, or leave retryAfter out",
        }),
      );
    }
  }
  return diagnostics;
}

function durationRules(name: string, consumer: SoundConsumer): Diagnostic[] {
  const durations: readonly (readonly [readonly string[], string | undefined])[] = [
    [["handlerTimeout"], consumer.handlerTimeout],
    [["deadLetter", "retain"], consumer.deadLetter?.retain],
    [["queueArguments", "consumerTimeout"], consumer.queueArguments?.consumerTimeout],
    [["retry", "giveUpAfter"], consumer.retry?.giveUpAfter],
    [["retry", "retryAfter", "max"], consumer.retry?.retryAfter?.max],
  ];
  return durations.flatMap(([path, value]) => {
    if (value === undefined) return [];
    const durationMs = parseDurationMs(value);
    if (durationMs >= 1 && durationMs <= limits.delayMs) return [];
    return diagnosed("RD105", {
      path: ["consumers", name, ...path],
      message: `${formatDurationMs(durationMs)} is out of range: from 1ms to 3650d`,
      value,
      help: durationMs < 1 ? "leave it out, or choose a duration above zero" : "choose at most 3650d",
    });
  });
}
