import type { Auditor } from "../broker.ts";
import { auditDeployment } from "./foreign/audit.ts";
import type { ServicebusTarget } from "./compile/capabilities.ts";
import type { ServicebusCompiled } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";
import { partsOf, targetOf } from "./foreign/deployment.ts";
import { certainResources } from "./foreign/import/certain-resources.ts";
import { losingTypes } from "./foreign/import/losing-types.ts";
import { leftoversIn } from "./foreign/leftovers.ts";
import {
  assigned,
  deploymentOfResources,
  isReadResource,
  isServicebusResource,
  placesOf,
  plainTypeOf,
} from "./foreign/import/pulumi-resources.ts";
import { readArm } from "./foreign/read-arm.ts";

/** The audit of topologies that Redeliver did not make. */
export const auditor: Auditor<ServicebusTarget, Deployment, ServicebusCompiled, null> = Object.freeze({
  file: Object.freeze({
    option: "servicebus",
    what: "an ARM template that az group export wrote of a resource group with a Service Bus namespace",
    read: readArm,
  }),
  resources: Object.freeze({
    isOwn: isServicebusResource,
    plainTypeOf,
    losingTypes,
    assigned,
    queueType: null,
    isRead: isReadResource,
    placesOf,
    certain: certainResources,
    read: deploymentOfResources,
  }),
  live: null,
  partNoun: "namespace",
  rulesOf: () => "Azure Service Bus",
  newestTarget: "servicebus@standard",
  targetOf,
  partsOf,
  leftoversIn,
  audit: auditDeployment,
});
