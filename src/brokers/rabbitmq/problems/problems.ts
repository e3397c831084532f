import { compileProblems } from "./compile.ts";
import { readProblems } from "./read.ts";
import { auditProblems } from "./audit.ts";
import { runProblems } from "./run.ts";
import { operateProblems } from "./operate.ts";

/** The codes of RabbitMQ. */
export const rabbitmqProblems = {
  ...compileProblems,
  ...readProblems,
  ...auditProblems,
  ...runProblems,
  ...operateProblems,
} as const;
