import { compileExamples } from "./compile.ts";
import { runExamples } from "./run.ts";
import { targetExamples } from "./target.ts";
import { adoptExamples } from "./adopt.ts";
import { auditExamples } from "./audit.ts";

/** An example for each code of Amazon SQS. */
export const sqsExamples = {
  ...compileExamples,
  ...targetExamples,
  ...auditExamples,
  ...runExamples,
  ...adoptExamples,
} as const;
