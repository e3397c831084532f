import { z } from "zod";

import { deepFreeze } from "../declare/freeze.ts";
import { formatDurationMs, parseDurationMs } from "../declare/duration.ts";
import { plainData } from "../declare/plain-data.ts";
import { durationTexts } from "../declare/schema-issues.ts";
import { type Checked, type Diagnostic, accepted, diagnosed } from "../diagnostics/diagnostic.ts";
import { type InputForm, type JsonSchema, describeIssues } from "../diagnostics/schema-issues.ts";
import type { ConsumerScenario, Outage, Phase, Scenario, Shares, Simulated } from "./scenario.ts";
import { expectedMessages, scenarioLimits } from "./scenario.ts";
import { consumerRules, eventRules, nameRules } from "./scenario-rules.ts";
import type { ConsumerInput, EventInput, ScenarioInput } from "./scenario-schema.ts";
import { scenarioSchema, sharePattern } from "./scenario-schema.ts";

/** The settings that a scenario leaves out. They use half of an instance's time, and most messages succeed. */
export const scenarioDefaults = deepFreeze({
  duration: "1h",
  drain: "1d",
  seed: 1,
  consumer: {
    arrivals: { perSecond: 10 },
    instances: 1,
    prefetch: 10,
    concurrency: 1,
    handlingTime: { from: "20ms", to: "80ms" },
    restart: "10s",
    outcomes: { transient: "1%", permanent: "0.1%", crash: "0.01%" },
    poison: {},
  },
});

/**
 * Checks a scenario from any source, and fills in missing settings.
 *
 * @param input the content of a file; an empty mapping plays the defaults
 * @param simulated the existing consumers, in order
 * @param seed replaces the scenario's own
 * @returns the scenario, frozen; or every reason to refuse it
 */
export function checkScenario(input: unknown, simulated: readonly Simulated[], seed?: number): Checked<Scenario> {
  const plain = plainData(input);
  if (!plain.ok) return plain;
  const parsed = scenarioSchema.safeParse(plain.value);
  if (!parsed.success)
    return { ok: false, diagnostics: describeIssues(parsed.error.issues, plain.value, scenarioForm) };
  const written = parsed.data;
  const diagnostics = [
    ...nameRules(written, simulated),
    ...eventRules(written, scenarioDefaults),
    ...consumerRules(written, simulated, scenarioDefaults.consumer),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const scenario: Scenario = {
    durationMs: parseDurationMs(written.duration ?? scenarioDefaults.duration),
    drainMs: parseDurationMs(written.drain ?? scenarioDefaults.drain),
    seed: seed ?? written.seed ?? scenarioDefaults.seed,
    consumers: simulated.map(({ consumer }) => consumerScenario(consumer, written)),
  };
  const tooLarge = sizeRules(scenario);
  if (tooLarge.length > 0) return { ok: false, diagnostics: tooLarge };
  return accepted(deepFreeze(scenario));
}

/** The settings of a consumer, with none missing. */
type Settings = { readonly [Key in keyof ConsumerInput]-?: NonNullable<ConsumerInput[Key]> };

/** Takes the first existing setting: the consumer's own, the one for every consumer, the default. */
function settingsOf(consumer: string, { everyConsumer = {}, consumers = {} }: ScenarioInput): Settings {
  const own = (Object.hasOwn(consumers, consumer) ? consumers[consumer] : undefined) ?? {};
  const given = [everyConsumer, own].flatMap((each) => Object.entries(each).filter(([, value]) => value !== undefined));
  return { ...scenarioDefaults.consumer, ...(Object.fromEntries(given) as Partial<Settings>) };
}

function consumerScenario(consumer: string, written: ScenarioInput): ConsumerScenario {
  const settings = settingsOf(consumer, written);
  const { arrivals, handlingTime } = settings;
  return {
    consumer,
    arrivals:
      arrivals.every === undefined
        ? { perSecond: arrivals.perSecond ?? 0, spacing: "random" }
        : { perSecond: 1_000 / parseDurationMs(arrivals.every), spacing: "even" },
    instances: settings.instances,
    prefetch: settings.prefetch,
    concurrency: settings.concurrency,
    handlingTime: { fromMs: parseDurationMs(handlingTime.from), toMs: parseDurationMs(handlingTime.to) },
    restartMs: parseDurationMs(settings.restart),
    outcomes: sharesOf(settings.outcomes),
    poison: sharesOf(settings.poison),
    phases: phasesOf((written.events ?? []).filter((event) => event.consumers?.includes(consumer) ?? true)),
  };
}

function sharesOf(written: Settings["outcomes"]): Shares {
  const fraction = (share: string | undefined): number => Number((share ?? "0%").slice(0, -1)) / 100;
  return {
    transient: fraction(written.transient),
    "retry-after": fraction(written.retryAfter),
    permanent: fraction(written.permanent),
    crash: fraction(written.crash),
    return: fraction(written.return),
  };
}

/** Refuses a run that would take hours before it begins. */
function sizeRules({ consumers, durationMs }: Scenario): Diagnostic[] {
  const messages = consumers.reduce((sum, consumer) => sum + expectedMessages(consumer, durationMs), 0);
  const held = consumers.reduce((sum, { instances, prefetch }) => sum + instances * prefetch, 0);
  return [
    ...(messages <= scenarioLimits.messages
      ? []
      : diagnosed("RD505", {
          path: "",
          message: `this would be about ${messages.toLocaleString("en")} messages; at most ${scenarioLimits.messages.toLocaleString("en")} are simulated`,
          notes: [`they arrive in ${formatDurationMs(durationMs)} for ${consumers.length} of the consumers`],
          help: "simulate a shorter duration or fewer arrivals: a busy hour tells as much as a year",
        })),
    ...(held <= scenarioLimits.held
      ? []
      : diagnosed("RD505", {
          path: "",
          message: `all instances together would hold up to ${held.toLocaleString("en")} messages; at most ${scenarioLimits.held.toLocaleString("en")} are simulated`,
          notes: ["an instance holds as many messages as its prefetch"],
          help: "choose fewer instances or a smaller prefetch",
        })),
  ];
}

/**
 * Cuts time at the beginning and the end of each event. If two outages overlap, the first in the list counts. Factors
 * of bursts that overlap are multiplied.
 *
 * @param events the events for one consumer
 */
function phasesOf(events: readonly EventInput[]): readonly Phase[] {
  const timed = events.map((event) => ({
    event,
    fromMs: parseDurationMs(event.from),
    toMs: parseDurationMs(event.to),
  }));
  const cuts = new Set([0, ...timed.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]);
  return [...cuts]
    .toSorted((a, b) => a - b)
    .map((fromMs): Phase => {
      const current = timed.filter((each) => each.fromMs <= fromMs && fromMs < each.toMs).map(({ event }) => event);
      return {
        fromMs,
        arrivalFactor: current.reduce((product, event) => product * (event.kind === "burst" ? event.factor : 1), 1),
        isStopped: current.some(({ kind }) => kind === "stopped"),
        outage: outageOf(current),
      };
    });
}

function outageOf(events: readonly EventInput[]): Outage | null {
  for (const event of events) {
    if (event.kind !== "outage") continue;
    return {
      outcome: event.outcome ?? "transient",
      failsAfterMs: event.failsAfter === undefined ? null : parseDurationMs(event.failsAfter),
    };
  }
  return null;
}

let wholeSchema: JsonSchema | undefined;

const scenarioForm: InputForm = {
  schema: () => (wholeSchema ??= z.toJSONSchema(scenarioSchema, { io: "input" }) as JsonSchema),
  whole: "a scenario is a mapping",
  begin: "start with duration: 1h",
  placeName: (path) => {
    if (path.length === 0) return "a scenario";
    return typeof path.at(-1) === "number" ? "an event" : String(path.at(-1));
  },
  texts: { ...durationTexts, [sharePattern.source]: 'a percentage such as "2%" or "0.05%"' },
  codeOf: ({ kind }) => (kind === "unknown-key" || kind === "unknown-kind" ? "RD502" : "RD501"),
};
