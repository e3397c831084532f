import type { ExamplePair, PolicyExample } from "./example.ts";

/** The options of a policy pack with these lines below `rules`. */
function optionsExample(...lines: readonly string[]): PolicyExample {
  return { kind: "policy", text: ["preset: strict", "rules:", ...lines.map((line) => `  ${line}`), ""].join("\n") };
}

/** RD9xx: what a policy pack is told. */
export const policyExamples = {
  RD901: {
    fires: optionsExample("dead-letter-time-limit: { max: two days }"),
    quiet: optionsExample("dead-letter-time-limit: { max: 2d }"),
  },
  RD902: {
    fires: optionsExample("retry-attempt-limit: { max: 5 }"),
    quiet: optionsExample("retry-attempts-limit: { max: 5 }"),
  },
  RD903: {
    fires: optionsExample("retry-attempts-limit: { max: 0 }"),
    quiet: optionsExample("retry-attempts-limit: { max: 1 }"),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
