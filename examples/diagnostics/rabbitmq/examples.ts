import { adoptExamples } from "./adopt.ts";
import { changeExamples } from "./change.ts";
import { driftExamples } from "./drift.ts";
import { compileExamples } from "./compile.ts";
import { readExamples } from "./read.ts";
import { auditExamples } from "./audit.ts";
import { lifetimeExamples } from "./lifetimes.ts";
import { runExamples } from "./run.ts";
import { operateExamples } from "./operate.ts";

/** An example for each code of RabbitMQ. */
export const rabbitmqExamples = {
  ...compileExamples,
  ...changeExamples,
  ...driftExamples,
  ...adoptExamples,
  ...readExamples,
  ...auditExamples,
  ...lifetimeExamples,
  ...runExamples,
  ...operateExamples,
} as const;
