import type { ExamplePair, PolicyExample, PreviewExample } from "./example.ts";

/** The options of a policy pack with these lines below `rules`. */
function optionsExample(...lines: readonly string[]): PolicyExample {
  return { kind: "policy", text: ["preset: strict", "rules:", ...lines.map((line) => `  ${line}`), ""].join("\n") };
}

/** A preview of a stack that contains only itself. */
function previewExample(change: object): PreviewExample {
  const urn = "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod";
  const state = { urn, custom: false, type: "pulumi:pulumi:Stack" };
  const step = { op: "same", urn, oldState: state, newState: state, detailedDiff: null };
  const digest = { steps: [step], duration: 1_000_000, changeSummary: { same: 1 }, ...change };
  return { kind: "preview", text: `${JSON.stringify(digest, null, 2)}\n` };
}

/** RD9xx: the options of a policy pack, and the previews that it judges. */
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
  RD904: {
    fires: { kind: "preview", text: `${JSON.stringify({ version: 3, deployment: { resources: [] } }, null, 2)}\n` },
    quiet: previewExample({}),
  },
  RD905: {
    fires: previewExample({ changeSummary: { same: 8 } }),
    quiet: previewExample({}),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
