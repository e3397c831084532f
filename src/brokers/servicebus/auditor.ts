import type { RequestBounds } from "../../foreign/request-budget.ts";
import type { Auditor, SdkReader } from "../broker.ts";
import { auditDeployment } from "./foreign/audit.ts";
import type { ServicebusTarget } from "./compile/capabilities.ts";
import type { ServicebusCompiled } from "./compile/compile.ts";
import { type Deployment, partsOf, targetOf } from "./foreign/deployment.ts";
import { certainResources } from "./foreign/import/certain-resources.ts";
import { namespacesOf } from "./foreign/import/entity-properties.ts";
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
import { terraformTypes } from "./foreign/import/terraform-types.ts";
import { readArm } from "./foreign/read-arm.ts";

export const auditor: Auditor<ServicebusTarget, Deployment, ServicebusCompiled, SdkReader<Deployment>> = Object.freeze({
  file: Object.freeze({
    option: "servicebus",
    what: "an ARM template that az group export wrote of a resource group with a Service Bus namespace",
    read: readArm,
  }),
  resources: Object.freeze({
    terraformTypes,
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
  live: Object.freeze({
    kind: "sdk",
    schemes: Object.freeze(["servicebus:"]),
    read: async (host: string, _endpoint: string | undefined, bounds: Partial<RequestBounds>) => {
      const { listNamespace, readNamespace } = await import("./run/read-namespace.ts");
      const found = await readNamespace(host, listNamespace, bounds);
      return found.ok ? { ...found, value: { namespaces: namespacesOf(found.value, true) } } : found;
    },
  }),
  partNoun: "namespace",
  rulesOf: () => "Azure Service Bus",
  newestTarget: "servicebus@standard",
  targetOf,
  partsOf,
  leftoversIn,
  audit: auditDeployment,
});
