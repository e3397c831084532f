import type { RequestBounds } from "../../foreign/request-budget.ts";
import type { SdkReader, Auditor } from "../broker.ts";
import { auditDeployment } from "./foreign/audit.ts";
import type { SqsTarget } from "./compile/capabilities.ts";
import type { SqsCompiled } from "./compile/compile.ts";
import { parseSqsTarget } from "./compile/target.ts";
import { type Deployment, partsOf, targetOf } from "./foreign/deployment.ts";
import { certainResources } from "./foreign/import/certain-resources.ts";
import { losingTypes } from "./foreign/import/losing-types.ts";
import { deploymentOfResources, isReadResource, isSqsResource, placesOf } from "./foreign/import/pulumi-resources.ts";
import { assigned, queueType, terraformTypes } from "./foreign/import/resource-types.ts";
import { leftoversIn } from "./foreign/leftovers.ts";
import { readListing, readDocuments } from "./foreign/read-listing.ts";

export const auditor: Auditor<SqsTarget, Deployment, SqsCompiled, SdkReader<Deployment>> = Object.freeze({
  file: Object.freeze({
    option: "sqs",
    what: "a list of the AWS CLI's output about queues, subscriptions, event source mappings and functions",
    read: readListing,
  }),
  resources: Object.freeze({
    terraformTypes,
    unreadTypes: ["aws-native:sqs:Queue"],
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
  live: Object.freeze({
    kind: "sdk",
    schemes: Object.freeze(["sqs:"]),
    read: async (region: string, endpoint: string | undefined, bounds: Partial<RequestBounds>) => {
      const target = parseSqsTarget(region);
      if (!target.ok) return target;
      const { readAccount } = await import("./run/read-account.ts");
      return readAccount({ region, endpoint }, readDocuments, bounds);
    },
  }),
  partNoun: "region",
  rulesOf: () => "Amazon SQS",
  newestTarget: "sqs@us-east-1",
  targetOf,
  partsOf,
  leftoversIn,
  audit: auditDeployment,
});
