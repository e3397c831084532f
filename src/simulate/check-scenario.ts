import { deepFreeze } from "../declare/freeze.ts";
import { formatDurationMs, parseDurationMs } from "../declare/duration.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { phasesOf } from "./phases.ts";
import type { ConsumerScenario, Scenario, Shares } from "./scenario.ts";
import { expectedMessages, scenarioLimits } from "./scenario.ts";
import { describeScenarioIssues } from "./scenario-issues.ts";
import { consumerRules, eventRules, nameRules } from "./scenario-rules.ts";
import type { ConsumerInput, ScenarioInput } from "./scenario-schema.ts";
import { scenarioSchema } from "./scenario-schema.ts";

/** What a scenario is held against. */
export interface Simulated {
  readonly consumer: string;
  /** Whether its handlers may ask for a delay of their own. */
  readonly hasRetryAfter: boolean;
}

/** What is played where a scenario says nothing. Half of one instance's time is used, and most messages come through. */
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
 * Checks a scenario of any origin, and fills in what it leaves out.
 *
 * @param input what a file holds; an empty mapping plays the defaults
 * @param simulated the consumers that there are, in order
 * @param seed counts instead of the scenario's own
 * @returns the scenario, frozen; or every reason why it is refused
 */
export function checkScenario(input: unknown, simulated: readonly Simulated[], seed?: number): Checked<Scenario> {
  const parsed = scenarioSchema.safeParse(input);
  if (!parsed.success) return { ok: false, diagnostics: describeScenarioIssues(parsed.error.issues, input) };
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
  return { ok: true, value: deepFreeze(scenario), warnings: [] };
}

/** The settings of a consumer without a gap in them. */
type Settings = { readonly [Key in keyof ConsumerInput]-?: NonNullable<ConsumerInput[Key]> };

/** The first setting that is there: the consumer's own, that of every consumer, the default. */
function settingsOf(consumer: string, { everyConsumer = {}, consumers = {} }: ScenarioInput): Settings {
  const own = (Object.hasOwn(consumers, consumer) ? consumers[consumer] : undefined) ?? {};
  const defaults: Settings = scenarioDefaults.consumer;
  return {
    arrivals: own.arrivals ?? everyConsumer.arrivals ?? defaults.arrivals,
    instances: own.instances ?? everyConsumer.instances ?? defaults.instances,
    prefetch: own.prefetch ?? everyConsumer.prefetch ?? defaults.prefetch,
    concurrency: own.concurrency ?? everyConsumer.concurrency ?? defaults.concurrency,
    handlingTime: own.handlingTime ?? everyConsumer.handlingTime ?? defaults.handlingTime,
    restart: own.restart ?? everyConsumer.restart ?? defaults.restart,
    outcomes: own.outcomes ?? everyConsumer.outcomes ?? defaults.outcomes,
    poison: own.poison ?? everyConsumer.poison ?? defaults.poison,
  };
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

/** Shares as fractions of 1. */
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

/** A run that would take hours is refused before it begins. */
function sizeRules({ consumers, durationMs }: Scenario): Diagnostic[] {
  const messages = consumers.reduce((sum, consumer) => sum + expectedMessages(consumer, durationMs), 0);
  const held = consumers.reduce((sum, { instances, prefetch }) => sum + instances * prefetch, 0);
  return [
    ...(messages <= scenarioLimits.messages
      ? []
      : [
          diagnostic("RD505", {
            path: "",
            message: `this would be about ${messages.toLocaleString("en")} messages; at most ${scenarioLimits.messages.toLocaleString("en")} are simulated`,
            notes: [`they arrive in ${formatDurationMs(durationMs)} for ${consumers.length} of the consumers`],
            help: "simulate a shorter duration or fewer arrivals: a busy hour tells as much as a year",
          }),
        ]),
    ...(held <= scenarioLimits.held
      ? []
      : [
          diagnostic("RD505", {
            path: "",
            message: `all instances together would hold up to ${held.toLocaleString("en")} messages; at most ${scenarioLimits.held.toLocaleString("en")} are simulated`,
            notes: ["an instance holds as many messages as its prefetch"],
            help: "choose fewer instances or a smaller prefetch",
          }),
        ]),
  ];
}
