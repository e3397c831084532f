import type { Adopter } from "../adopter.ts";
import type { Broker } from "../broker.ts";
import { auditor } from "./auditor.ts";
import { migrating } from "./migrating.ts";
import { type SqsTarget, formatTarget, strategyNames } from "./compile/capabilities.ts";
import { type SqsCompiled, compileSqs } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";
import { deployedOver, deploymentOf, driftOf } from "./foreign/drift.ts";
import { diagnoseTemplate } from "./make/diagnose-template.ts";
import { exportCloudFormation } from "./make/export.ts";
import { terraformTypes } from "./foreign/import/resource-types.ts";
import { terraformTypeOf } from "../../foreign/terraform-state.ts";
import { exportTerraform } from "./make/terraform.ts";
import { graphOf } from "./graph.ts";
import { importsOf } from "./foreign/adopt/imports.ts";
import { inferSystem } from "./foreign/adopt/infer.ts";
import { changesOf, subjectsOf } from "./prove/model.ts";
import { consuming } from "./run/index.ts";
import type { SqsConnection } from "./run/connection.ts";
import { deployedPartsOf } from "./compile/parts.ts";
import { toAudit, toDeploy, toOperate, toPublish } from "./compile/permissions.ts";
import type { MessageState } from "./prove/semantics.ts";
import { partitionOf } from "./compile/regions.ts";
import { rules } from "./rules.ts";
import { stack } from "./stack.ts";
import {
  type SqsTargetInput,
  checkSqsTarget,
  parseSqsTarget,
  targetForConsumer,
  targetUnderNames,
} from "./compile/target.ts";

export interface SqsBroker extends Broker<
  SqsTarget,
  SqsTargetInput,
  SqsCompiled,
  MessageState,
  Deployment,
  SqsConnection
> {
  readonly auditor: typeof auditor;
  readonly adopter: Adopter<SqsTarget, Deployment, SqsCompiled>;
  /** The permissions that each task needs. Those of a consumer follow from its contract. */
  readonly permissions: typeof permissions;
  readonly rules: typeof rules;
  readonly stack: typeof stack;
}

const permissions = Object.freeze({ partitionOf, toAudit, toDeploy, toOperate, toPublish });

export const sqs: SqsBroker = Object.freeze({
  title: "Amazon SQS",
  exampleTarget: "sqs@eu-west-1",
  strategyNames,
  parseTarget: parseSqsTarget,
  checkTarget: checkSqsTarget,
  formatTarget,
  separator: "-",
  targetFor: targetForConsumer,
  targetUnder: targetUnderNames,
  placeOf: ({ region }: SqsTarget) => region,
  compile: compileSqs,
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
    rules: "follows AWS's documentation and recordings of its behaviour; not compared with AWS itself",
  }),
  exportFormats: Object.freeze({
    "aws-json": ({ topology }: SqsCompiled) => exportCloudFormation(topology),
    terraform: ({ topology }: SqsCompiled) => exportTerraform(topology),
  }),
  diagnoseExport: ({ topology }: SqsCompiled, format: string) =>
    format === "aws-json" ? diagnoseTemplate(topology) : [],
  loadOperating: async () => (await import("./operate/index.ts")).operating,
  operatingPackages: ["@aws-sdk/client-sqs"],
  loadContractPages: async () => (await import("./pages/index.ts")).contractPages,
  get auditor() {
    return auditor;
  },
  get adopter() {
    return {
      infer: inferSystem,
      deployedOver,
      fixed: [],
      effect: "a deployment writes every attribute as declared, in place; subscriptions that are not declared stay",
      terraformType: (token: string) => terraformTypeOf(terraformTypes, token),
      importsOf,
    };
  },
  get differ() {
    return { live: auditor.live, compare: driftOf, deploymentOf };
  },
  get migrating() {
    return migrating;
  },
  // The credentials and the target identify an account and a region, and there is nothing below them.
  defaultNamespace: null,
  permissions,
  get rules() {
    return rules;
  },
  get stack() {
    return stack;
  },
});
