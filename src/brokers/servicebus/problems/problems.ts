import { compileProblems } from "./compile.ts";
import { auditProblems } from "./audit.ts";

/** The codes of Azure Service Bus. */
export const servicebusProblems = {
  ...compileProblems,
  ...auditProblems,
} as const;
