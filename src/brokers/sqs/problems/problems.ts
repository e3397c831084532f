import { compileProblems } from "./compile.ts";
import { runProblems } from "./run.ts";
import { targetProblems } from "./target.ts";
import { auditProblems } from "./audit.ts";

/** The codes of Amazon SQS. */
export const sqsProblems = {
  ...compileProblems,
  ...targetProblems,
  ...auditProblems,
  ...runProblems,
} as const;
