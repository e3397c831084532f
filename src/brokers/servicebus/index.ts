import type { Adopter } from "../adopter.ts";
import type { Broker } from "../broker.ts";
import { auditor } from "./auditor.ts";
import { type ServicebusTarget, formatTarget, strategyNames } from "./compile/capabilities.ts";
import { type ServicebusCompiled, compileServicebus } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";
import { deployedOver, deploymentOf, driftOf } from "./foreign/drift.ts";
import { diagnoseEmulatorConfig, exportEmulatorConfig } from "./make/export.ts";
import { exportTerraform, terraformType } from "./make/terraform.ts";
import { graphOf } from "./graph.ts";
import { importsOf } from "./foreign/adopt/imports.ts";
import { inferSystem } from "./foreign/adopt/infer.ts";
import { migrating } from "./migrating.ts";
import type { ModelState } from "./prove/model-state.ts";
import { changesOf, subjectsOf } from "./prove/model.ts";
import { consuming } from "./run/index.ts";
import type { ServicebusConnection } from "./run/connection.ts";
import { deployedPartsOf } from "./compile/parts.ts";
import { claimOf, toDeploy } from "./compile/permissions.ts";
import { rules } from "./rules.ts";
import { stack } from "./stack.ts";
import {
  type ServicebusTargetInput,
  asWritten,
  checkServicebusTarget,
  parseServicebusTarget,
  targetBeside,
  targetForConsumer,
  targetUnderNames,
} from "./compile/target.ts";

export interface ServicebusBroker extends Broker<
  ServicebusTarget,
  ServicebusTargetInput,
  ServicebusCompiled,
  ModelState,
  Deployment,
  ServicebusConnection
> {
  readonly auditor: typeof auditor;
  readonly adopter: Adopter<ServicebusTarget, Deployment, ServicebusCompiled>;
  readonly permissions: typeof permissions;
  readonly rules: typeof rules;
  readonly stack: typeof stack;
}

const permissions = Object.freeze({ claimOf, toDeploy });

export const servicebus: ServicebusBroker = Object.freeze({
  title: "Azure Service Bus",
  exampleTarget: "servicebus@standard",
  strategyNames,
  parseTarget: parseServicebusTarget,
  checkTarget: checkServicebusTarget,
  formatTarget,
  asWritten,
  targetFor: targetForConsumer,
  targetUnder: targetUnderNames,
  targetBeside,
  separator: ".",
  // It is one setting of the work queue. A user of Azure reports that dead letters which are there already are forwarded,
  // too: issue 301 of ServiceBusExplorer. This project has tried it on its emulator alone.
  changesDeadQueue: true,
  compile: compileServicebus,
  graphOf,
  // The bundled command line loads the file behind a getter when it is used.
  get consuming() {
    return consuming;
  },
  deployedPartsOf,
  subjectsOf,
  changesOf,
  evidenceOf: () => ({
    testedLive: false,
    rules: "follows Microsoft's documentation and reports of its users; not compared with Service Bus itself",
  }),
  exportFormats: Object.freeze({
    "emulator-config": ({ topology }: ServicebusCompiled) => exportEmulatorConfig(topology),
    terraform: ({ topology }: ServicebusCompiled) => exportTerraform(topology),
  }),
  diagnoseExport: (compiled: ServicebusCompiled, format: string) =>
    format === "emulator-config" ? diagnoseEmulatorConfig(compiled) : [],
  loadOperating: async () => (await import("./operate/index.ts")).operating,
  operatingPackages: ["@azure/service-bus"],
  loadContractPages: async () => (await import("./pages/index.ts")).contractPages,
  get auditor() {
    return auditor;
  },
  get adopter() {
    return {
      infer: inferSystem,
      deployedOver,
      fixed: [],
      effect: "a deployment writes every property as declared, but for sessions, duplicate detection and partitions",
      terraformType,
      importsOf,
    };
  },
  get differ() {
    return { live: auditor.live, compare: driftOf, deploymentOf };
  },
  get migrating() {
    return migrating;
  },
  // The name and the credentials identify a namespace, and there is nothing below it.
  defaultNamespace: null,
  permissions,
  get rules() {
    return rules;
  },
  get stack() {
    return stack;
  },
});
