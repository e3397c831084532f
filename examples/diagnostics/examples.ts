import { brokerExamples } from "./brokers.ts";
import type { DiagnosticCode } from "../../src/diagnostics/catalogue.ts";
import type { ExamplePair } from "./example.ts";
import { declarationExamples, readingExamples } from "./declaration.ts";
import { projectExamples } from "./project.ts";
import { policyExamples } from "./policy.ts";
import { scenarioExamples } from "./scenario.ts";

/** For every code, an example that reports it, and the same without the mistake. Tests run all of them. */
export const examples: Readonly<Record<DiagnosticCode, ExamplePair>> = {
  ...readingExamples,
  ...declarationExamples,
  ...scenarioExamples,
  ...policyExamples,
  ...projectExamples,
  ...brokerExamples,
};
