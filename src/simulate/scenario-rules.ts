import { parseDurationMs } from "../declare/duration.ts";
import { type Diagnostic, type PathSegment, diagnosed } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import type { Simulated } from "./scenario.ts";
import type { ConsumerInput, ScenarioInput } from "./scenario-schema.ts";

/** Every consumer that a scenario names must exist. */
export function nameRules(
  { consumers = {}, events = [] }: ScenarioInput,
  simulated: readonly Simulated[],
): Diagnostic[] {
  const declared = simulated.map(({ consumer }) => consumer);
  const unknown = (path: readonly PathSegment[], name: string): Diagnostic[] =>
    declared.includes(name)
      ? []
      : diagnosed("RD503", {
          path,
          message: `no consumer named ${JSON.stringify(name)} is simulated`,
          notes: [
            declared.length === 0
              ? "the declaration has no consumer with a work queue"
              : `the consumers with a work queue are ${declared.slice(0, 20).join(", ")}${declared.length > 20 ? ", …" : ""}`,
          ],
          help: nearest(name, declared) ?? "name one of them",
        });
  return [
    ...Object.keys(consumers).flatMap((name) => unknown(["consumers", name], name)),
    ...events.flatMap((event, index) =>
      (event.consumers ?? []).flatMap((name, place) => unknown(["events", index, "consumers", place], name)),
    ),
  ];
}

/** An event that ends before it begins, or begins after the run, would have no effect. */
export function eventRules(
  { duration, drain, events = [] }: ScenarioInput,
  defaults: { readonly duration: string; readonly drain: string },
): Diagnostic[] {
  const endMs = parseDurationMs(duration ?? defaults.duration) + parseDurationMs(drain ?? defaults.drain);
  return events.flatMap((event, index) => {
    if (parseDurationMs(event.to) <= parseDurationMs(event.from))
      return diagnosed("RD504", {
        path: ["events", index, "to"],
        message: `the event ${event.kind} ends at ${event.to}, which is not after its beginning at ${event.from}`,
        value: event.to,
        notes: ["both are measured from the start of the simulation"],
        help: "choose a later time",
      });
    if (parseDurationMs(event.from) < endMs) return [];
    return diagnosed("RD504", {
      path: ["events", index, "from"],
      message: `the event ${event.kind} begins at ${event.from}, when the simulation is over`,
      value: event.from,
      notes: [
        `it ends ${drain ?? defaults.drain} after its duration of ${duration ?? defaults.duration} at the latest`,
      ],
      help: "choose an earlier time, or a longer duration",
    });
  });
}

export function consumerRules(
  { everyConsumer = {}, consumers = {} }: ScenarioInput,
  simulated: readonly Simulated[],
  defaults: ConsumerInput,
): Diagnostic[] {
  const places = [
    {
      path: ["everyConsumer"],
      own: everyConsumer,
      others: [defaults],
      hasRetryAfter: simulated.every(({ hasRetryAfter }) => hasRetryAfter),
    },
    ...Object.entries(consumers).map(([name, own]) => ({
      path: ["consumers", name],
      own,
      others: [everyConsumer, defaults],
      // Another diagnostic reports an unknown consumer.
      hasRetryAfter: simulated.find(({ consumer }) => consumer === name)?.hasRetryAfter ?? true,
    })),
  ];
  return places.flatMap(({ path, own, others, hasRetryAfter }) => [
    ...arrivalRules(path, own),
    ...concurrencyRules(path, own, others),
    ...handlingTimeRules(path, own),
    ...shareRules([...path, "outcomes"], own.outcomes, hasRetryAfter),
    ...shareRules([...path, "poison"], own.poison, hasRetryAfter),
  ]);
}

function arrivalRules(path: readonly PathSegment[], { arrivals }: ConsumerInput): Diagnostic[] {
  if (arrivals === undefined || (arrivals.every === undefined) !== (arrivals.perSecond === undefined)) return [];
  const isBoth = arrivals.every !== undefined;
  return diagnosed("RD504", {
    path: [...path, "arrivals"],
    message: isBoth ? "both perSecond and every are given" : "neither perSecond nor every is given",
    help: isBoth
      ? "remove one of the two"
      : "write { perSecond: 20 } for random arrivals, { every: 50ms } for even ones",
  });
}

function concurrencyRules(
  path: readonly PathSegment[],
  own: ConsumerInput,
  others: readonly ConsumerInput[],
): Diagnostic[] {
  if (own.concurrency === undefined && own.prefetch === undefined) return [];
  const [prefetch = 1] = [own, ...others].flatMap((each) => each.prefetch ?? []);
  const [concurrency = 1] = [own, ...others].flatMap((each) => each.concurrency ?? []);
  if (concurrency <= prefetch) return [];
  return diagnosed("RD504", {
    path: [...path, own.concurrency === undefined ? "prefetch" : "concurrency"],
    message: `an instance cannot handle ${concurrency} messages at a time with a prefetch of ${prefetch}`,
    value: own.concurrency ?? own.prefetch,
    help: `raise prefetch to ${concurrency}, or lower concurrency to ${prefetch}`,
  });
}

function handlingTimeRules(path: readonly PathSegment[], { handlingTime }: ConsumerInput): Diagnostic[] {
  if (handlingTime === undefined || parseDurationMs(handlingTime.from) <= parseDurationMs(handlingTime.to)) return [];
  return diagnosed("RD504", {
    path: [...path, "handlingTime"],
    message: `the handling time goes from ${handlingTime.from} to ${handlingTime.to}, which is less`,
    help: "swap the two",
  });
}

/** With this share of returns, consumers receive a message ten times on average. */
const mostReturnsPercent = 90;

function shareRules(
  path: readonly PathSegment[],
  shares: ConsumerInput["outcomes"],
  hasRetryAfter: boolean,
): Diagnostic[] {
  if (shares === undefined) return [];
  const percent = Object.values(shares).reduce((sum, share) => sum + Number((share ?? "0%").slice(0, -1)), 0);
  return [
    // Sums of fractions such as 0.1 and 0.2 are not exact.
    ...(percent <= 100 + 1e-6
      ? []
      : diagnosed("RD504", {
          path,
          message: `the shares add up to ${Number(percent.toFixed(6))}%`,
          notes: ["the rest up to 100% are the successes"],
          help: "lower one of them",
        })),
    ...(Number((shares.return ?? "0%").slice(0, -1)) <= mostReturnsPercent
      ? []
      : diagnosed("RD504", {
          path: [...path, "return"],
          message: `${shares.return} of the handlings return their message; at most ${mostReturnsPercent}% are simulated`,
          value: shares.return,
          notes: ["nothing counts returns, so such messages would come back without end"],
          help: "lower the share; for consumers that take nothing, write an event of the kind stopped",
        })),
    ...(shares.retryAfter === undefined || hasRetryAfter
      ? []
      : diagnosed("RD503", {
          path: [...path, "retryAfter"],
          message: "no handler may ask for its own delay here",
          value: shares.retryAfter,
          notes: ["the declaration has no retry.retryAfter for it"],
          help: "declare retry.retryAfter, or remove the share",
        })),
  ];
}
