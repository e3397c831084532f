import { compileExamples } from "./compile.ts";
import { auditExamples } from "./audit.ts";

/** An example for each code of Azure Service Bus. */
export const servicebusExamples = {
  ...compileExamples,
  ...auditExamples,
} as const;
