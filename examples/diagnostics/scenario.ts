import type { ExamplePair, ScenarioExample } from "./example.ts";

function scenario(...lines: readonly string[]): ScenarioExample {
  return { kind: "scenario", text: `${lines.join("\n")}\n` };
}

/** RD5xx: problems of a scenario. */
export const scenarioExamples = {
  RD501: {
    fires: scenario("duration: 24h", "everyConsumer: { outcomes: { transient: 0.02 } }"),
    quiet: scenario("duration: 24h", "everyConsumer: { outcomes: { transient: 2% } }"),
  },
  RD502: {
    fires: scenario("duration: 1h", "events:", "  - { kind: outtage, from: 10m, to: 40m }"),
    quiet: scenario("duration: 1h", "events:", "  - { kind: outage, from: 10m, to: 40m }"),
  },
  RD503: {
    fires: scenario("consumers:", "  biling: { instances: 4 }"),
    quiet: scenario("consumers:", "  billing: { instances: 4 }"),
  },
  RD504: {
    fires: scenario("events:", "  - { kind: stopped, from: 40m, to: 10m }"),
    quiet: scenario("events:", "  - { kind: stopped, from: 10m, to: 40m }"),
  },
  RD505: {
    fires: scenario("duration: 3650d", "everyConsumer: { arrivals: { perSecond: 1000000 } }"),
    quiet: scenario("duration: 10s", "everyConsumer: { arrivals: { perSecond: 1000000 } }"),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
