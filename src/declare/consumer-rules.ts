import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { backoffRules } from "./backoff-rules.ts";
import { formatDurationMs, parseDurationMs } from "./duration.ts";
import { limits } from "./schema.ts";
import type { ConsumerOutput } from "./schema.ts";

/** A consumer, without the fields that were found wrong by themselves. */
type SoundConsumer = { readonly [Field in keyof ConsumerOutput]?: ConsumerOutput[Field] | undefined };

/**
 * The rules that look at several fields of a consumer, or at the consumer and its sources.
 *
 * @param isSound whether a field is as its schema wants it; a field that is not sound counts as given
 */
export function consumerRules(
  name: string,
  consumer: SoundConsumer,
  sources: { readonly [name: string]: unknown },
  isSound: (field: string) => boolean = () => true,
): Diagnostic[] {
  return [
    ...(consumer.from === undefined ? [] : sourceRules(name, consumer.from, sources)),
    ...deliveryRules(name, consumer, isSound),
    ...(consumer.retry === undefined ? [] : retryRules(name, consumer.retry)),
    ...durationRules(name, consumer),
  ];
}

function sourceRules(
  name: string,
  from: ConsumerOutput["from"],
  sources: { readonly [name: string]: unknown },
): Diagnostic[] {
  const path = ["consumers", name, "from"];
  const entries = Object.entries(from);
  const declared = Object.keys(sources);
  if (entries.length === 0) {
    return [
      diagnostic("RD109", {
        path,
        message: `consumer ${name} takes nothing from any source`,
        help: `add a source and its routing keys, for example from: { ${declared[0] ?? "orders"}: ["order.placed"] }`,
      }),
    ];
  }
  return entries.flatMap(([source, keys]) => {
    if (!Object.hasOwn(sources, source)) {
      return [
        diagnostic("RD108", {
          path: [...path, source],
          message: `no source named ${JSON.stringify(source)} is declared`,
          notes: [declared.length === 0 ? "sources is empty" : `declared are ${declared.join(", ")}`],
          help: `add it to sources, for example sources: { ${JSON.stringify(source)}: { kind: "topic" } }`,
        }),
      ];
    }
    const kind = (sources[source] as { kind?: unknown } | undefined)?.kind;
    return routingKeyRules([...path, source], keys, kind);
  });
}

function routingKeyRules(path: string[], keys: readonly string[] | "all", kind: unknown): Diagnostic[] {
  if (keys === "all") {
    if (kind !== "direct") return [];
    return [
      diagnostic("RD110", {
        path,
        message: 'a direct source cannot be taken as "all": it matches whole routing keys',
        value: keys,
        help: "list the routing keys, or make the source a topic or a fanout",
      }),
    ];
  }
  if (kind === "fanout") {
    return [
      diagnostic("RD110", {
        path,
        message: "a fanout source ignores routing keys, so the list would filter nothing",
        value: keys,
        help: 'write "all", or make the source a topic',
      }),
    ];
  }
  if (keys.length === 0) {
    return [
      diagnostic("RD109", {
        path,
        message: "the list of routing keys is empty, so nothing would arrive",
        value: keys,
        help: 'list at least one routing key, or write "all"',
      }),
    ];
  }
  return keys.flatMap((key, index) => {
    const problem = routingKeyProblem(key, index, keys, kind);
    return problem === undefined ? [] : [diagnostic("RD110", { path: [...path, index], value: key, ...problem })];
  });
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
  if (kind === "topic" && words.some((word) => word.length > 1 && /[*#]/.test(word))) {
    return {
      message: "* and # are wildcards only as whole words between dots",
      help: "write for example order.* or order.#",
    };
  }
  return undefined;
}

function deliveryRules(name: string, consumer: SoundConsumer, isSound: (field: string) => boolean): Diagnostic[] {
  if (!isSound("delivery")) return [];
  if (consumer.delivery !== "every-instance") {
    if (consumer.retry !== undefined || !isSound("retry")) return [];
    return [
      diagnostic("RD101", {
        path: ["consumers", name, "retry"],
        message: "retry is missing",
        notes: ["a work queue without a retry policy would lose or repeat what its handler cannot process"],
        help: 'add retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } }',
      }),
    ];
  }
  const protocol =
    consumer.protocol === "amqp-1.0"
      ? [
          diagnostic("RD112", {
            path: ["consumers", name, "protocol"],
            message: 'delivery "every-instance" is there for amqp-0-9-1 alone',
            value: consumer.protocol,
            notes: [
              "its contract has each instance declare a queue of its own, which AMQP 1.0 clients do in other ways",
            ],
            help: 'remove protocol, or use delivery: "work-queue"',
          }),
        ]
      : [];
  const notKept = (["retry", "crash", "errors", "deadLetter"] as const)
    .filter((key) => consumer[key] !== undefined)
    .map((key) =>
      diagnostic("RD112", {
        path: ["consumers", name, key],
        message: `${key} cannot be kept with delivery "every-instance"`,
        value: consumer[key],
        notes: [
          "an instance's own queue ends with the instance, and what waits in it is gone: there is nothing to retry from",
        ],
        help: `remove ${key}, or use delivery: "work-queue"`,
      }),
    );
  return [...notKept, ...protocol];
}

function retryRules(name: string, retry: NonNullable<ConsumerOutput["retry"]>): Diagnostic[] {
  const path = ["consumers", name, "retry"];
  const diagnostics = backoffRules(path, retry);
  if (retry.retryAfter !== undefined) {
    const maxMs = parseDurationMs(retry.retryAfter.max);
    // Zero and below is out of range for every duration, and reported with the others.
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
    [["retry", "giveUpAfter"], consumer.retry?.giveUpAfter],
    [["retry", "retryAfter", "max"], consumer.retry?.retryAfter?.max],
  ];
  return durations.flatMap(([path, value]) => {
    if (value === undefined) return [];
    const durationMs = parseDurationMs(value);
    if (durationMs >= 1 && durationMs <= limits.delayMs) return [];
    return [
      diagnostic("RD105", {
        path: ["consumers", name, ...path],
        message: `${formatDurationMs(durationMs)} is out of range: from 1ms to 3650d`,
        value,
        help: durationMs < 1 ? "leave it out, or choose a duration above zero" : "choose at most 3650d",
      }),
    ];
  });
}
