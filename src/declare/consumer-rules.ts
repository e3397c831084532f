import { type Diagnostic, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import { backoffRules, warnOfMissingAttempts, warnOfWeeks } from "./backoff-rules.ts";
import { formatDurationMs, parseDurationMs } from "./duration.ts";
import type { ConsumerOutput } from "./schema.ts";
import { limits } from "./schema-parts.ts";
import { type TakenFrom, takenRules } from "./taken-rules.ts";

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
  if (entries.length === 0)
    return diagnosed("RD109", {
      path,
      message: `consumer ${name} takes nothing from any source`,
      notes: isPerInstance ? ["the queue of an instance has no name that a producer could send to"] : [],
      help: `add a source and its routing keys, for example from: { ${declared[0] ?? "orders"}: ["order.placed"] }${isPerInstance ? "" : ", or leave from out if producers send straight to the work queue"}`,
    });
  return entries.flatMap(([source, keys]) => {
    if (!Object.hasOwn(sources, source))
      return diagnosed("RD108", {
        path: [...path, source],
        message: `no source named ${JSON.stringify(source)} is declared`,
        notes: [declared.length === 0 ? "sources is empty" : `declared are ${declared.join(", ")}`],
        help:
          nearest(source, declared) ??
          `add it to sources, for example sources: { ${JSON.stringify(source)}: { kind: "topic" } }`,
      });
    return takenRules([...path, source], keys, Object(sources[source]) as TakenFrom);
  });
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
  const notKept = (
    ["queue", "formerly", "queueArguments", "queueSettings", "retry", "crash", "errors", "deadLetter"] as const
  )
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
