import type { Broker } from "../broker.ts";
import type { SqsTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { SqsCompiled } from "./compile.ts";
import { compileSqs } from "./compile.ts";
import { evidenceOf } from "./evidence.ts";
import { exportCloudFormation } from "./export.ts";
import { graphOf } from "./graph.ts";
import { subjectsOf } from "./model.ts";
import type { MessageState } from "./semantics.ts";
import type { SqsTargetInput } from "./target.ts";
import { checkSqsTarget, parseSqsTarget } from "./target.ts";

/** Amazon SQS, with SNS in front of it, as the rest of Redeliver sees it. */
export const sqs: Broker<SqsTarget, SqsTargetInput, SqsCompiled, MessageState, never> = Object.freeze({
  title: "Amazon SQS",
  strategyNames,
  parseTarget: parseSqsTarget,
  checkTarget: checkSqsTarget,
  formatTarget,
  compile: compileSqs,
  graphOf,
  subjectsOf,
  evidenceOf,
  exportFormats: Object.freeze({
    "aws-json": ({ topology }: SqsCompiled) => exportCloudFormation(topology),
  }),
  // An account and a region are told by the credentials and the target, and there is nothing below them.
  defaultNamespace: null,
});
