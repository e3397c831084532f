import type { Auditor, Broker } from "../broker.ts";
import { auditDeployment } from "./audit.ts";
import type { ServicebusTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { ServicebusCompiled } from "./compile.ts";
import { compileServicebus } from "./compile.ts";
import type { Deployment } from "./deployment.ts";
import { partsOf, targetOf } from "./deployment.ts";
import { evidenceOf } from "./evidence.ts";
import { diagnoseEmulatorConfig, exportEmulatorConfig } from "./export.ts";
import { graphOf } from "./graph.ts";
import type { HeldMessage } from "./held-message.ts";
import { certainResources } from "./import/certain-resources.ts";
import { losingTypes } from "./import/losing-types.ts";
import { leftoversIn } from "./leftovers.ts";
import {
  assigned,
  deploymentOfResources,
  isReadResource,
  isServicebusResource,
  placesOf,
  plainTypeOf,
} from "./import/pulumi-resources.ts";
import { subjectsOf } from "./model.ts";
import { deployedPartsOf } from "./parts.ts";
import { readArm } from "./read-arm.ts";
import type { ServicebusTargetInput } from "./target.ts";
import { checkServicebusTarget, parseServicebusTarget } from "./target.ts";

const title = "Azure Service Bus";

/** What Service Bus has that a broker need not have. */
export interface ServicebusBroker extends Broker<
  ServicebusTarget,
  ServicebusTargetInput,
  ServicebusCompiled,
  HeldMessage,
  Deployment
> {
  readonly auditor: Auditor<ServicebusTarget, Deployment, ServicebusCompiled, null>;
}

/** Azure Service Bus, as the rest of Redeliver sees it. */
export const servicebus: ServicebusBroker = Object.freeze({
  title,
  strategyNames,
  parseTarget: parseServicebusTarget,
  checkTarget: checkServicebusTarget,
  formatTarget,
  compile: compileServicebus,
  graphOf,
  deployedPartsOf,
  subjectsOf,
  evidenceOf,
  exportFormats: Object.freeze({
    "emulator-config": ({ topology }: ServicebusCompiled) => exportEmulatorConfig(topology),
  }),
  diagnoseExport: (compiled: ServicebusCompiled, format: string) =>
    format === "emulator-config" ? diagnoseEmulatorConfig(compiled) : [],
  auditor: Object.freeze({
    file: Object.freeze({
      option: "servicebus",
      what: "an ARM template, as az group export writes it of a resource group with a namespace of Service Bus",
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
    rulesOf: () => title,
    newestTarget: "servicebus@standard",
    targetOf,
    partsOf,
    leftoversIn,
    audit: auditDeployment,
  }),
  // A namespace is told by its name and the credentials, and there is nothing below it.
  defaultNamespace: null,
});
