import type { ExamplePair, ProjectExample } from "./example.ts";

function project(...lines: readonly string[]): ProjectExample {
  return { kind: "project", text: `declaration: shop.yaml\n${lines.join("\n")}\n` };
}

/** RD32x: problems of a project file and its lock. */
export const projectExamples = {
  RD321: {
    fires: project("environments:", "  prod:", "    url: https://rabbitmq.example.com"),
    quiet: project("environments:", "  prod:", '    target: "rabbitmq@4.3"', "    url: https://rabbitmq.example.com"),
  },
  RD322: {
    fires: project(
      "environments: { prod: { target: rabbitmq@4.0 } }",
      "waivers:",
      "  - { code: RD207, consumer: billing, reason: a shutdown returns few, until: 2026-01-31 }",
    ),
    quiet: project(
      "environments: { prod: { target: rabbitmq@4.0 } }",
      "waivers:",
      "  - { code: RD207, consumer: billing, reason: a shutdown returns few, until: 2126-01-31 }",
    ),
  },
  RD323: {
    fires: { kind: "lock", text: '{ "lock": 2, "system": "shop", "environments": {} }\n' },
    quiet: { kind: "lock", text: '{ "lock": 1, "system": "shop", "environments": {} }\n' },
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
