import type { AnswerReader, Auditor, Broker } from "../broker.ts";
import { auditDeployment } from "./audit.ts";
import type { SqsTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { SqsCompiled } from "./compile.ts";
import { compileSqs } from "./compile.ts";
import type { Deployment } from "./deployment.ts";
import { partsOf, targetOf } from "./deployment.ts";
import { evidenceOf } from "./evidence.ts";
import { exportCloudFormation } from "./export.ts";
import { graphOf } from "./graph.ts";
import { certainResources } from "./import/certain-resources.ts";
import { losingTypes } from "./import/losing-types.ts";
import { deploymentOfResources, isReadResource, isSqsResource, placesOf } from "./import/pulumi-resources.ts";
import { assigned, queueType } from "./import/resource-types.ts";
import { leftoversIn } from "./leftovers.ts";
import { live } from "./live.ts";
import { subjectsOf } from "./model.ts";
import { deployedPartsOf } from "./parts.ts";
import { readListing } from "./read-listing.ts";
import type { MessageState } from "./semantics.ts";
import type { SqsTargetInput } from "./target.ts";
import { checkSqsTarget, parseSqsTarget, targetForConsumer } from "./target.ts";

const title = "Amazon SQS";

/** What SQS has that a broker need not have. */
export interface SqsBroker extends Broker<SqsTarget, SqsTargetInput, SqsCompiled, MessageState, Deployment> {
  readonly auditor: Auditor<SqsTarget, Deployment, SqsCompiled, AnswerReader<Deployment>>;
}

/** Amazon SQS, with SNS in front of it, as the rest of Redeliver sees it. */
export const sqs: SqsBroker = Object.freeze({
  title,
  strategyNames,
  parseTarget: parseSqsTarget,
  checkTarget: checkSqsTarget,
  formatTarget,
  targetFor: targetForConsumer,
  compile: compileSqs,
  graphOf,
  deployedPartsOf,
  subjectsOf,
  evidenceOf,
  exportFormats: Object.freeze({
    "aws-json": ({ topology }: SqsCompiled) => exportCloudFormation(topology),
  }),
  auditor: Object.freeze({
    file: Object.freeze({
      option: "sqs",
      what: "a list of what the AWS CLI printed about queues, subscriptions, event source mappings and functions",
      read: readListing,
    }),
    resources: Object.freeze({
      isOwn: isSqsResource,
      plainTypeOf: (type: string) => type,
      losingTypes,
      assigned,
      queueType,
      isRead: isReadResource,
      placesOf,
      certain: certainResources,
      read: deploymentOfResources,
    }),
    live,
    partNoun: "region",
    rulesOf: () => title,
    newestTarget: "sqs@us-east-1",
    targetOf,
    partsOf,
    leftoversIn,
    audit: auditDeployment,
  }),
  // An account and a region are told by the credentials and the target, and there is nothing below them.
  defaultNamespace: null,
});
