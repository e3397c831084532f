import { docsPage } from "../../diagnostics/docs-site.ts";
import { strategiesUnder, withOwnStrategy } from "../../contract/own-strategy.ts";
import type { Adopter } from "../adopter.ts";
import type { Broker, HttpReader } from "../broker.ts";
import type { Differ } from "../drift.ts";
import { auditor } from "./auditor.ts";
import type { Plan } from "../../plan/plan.ts";
import { type RabbitmqTarget, formatTarget, isOlder, strategyNames, targetOver } from "./compile/capabilities.ts";
import { type RabbitmqCompiled, compileRabbitmq } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";
import { policiesOfOthers } from "./foreign/adopt/others-policies.ts";
import { deployedOver } from "./foreign/adopt/deployed-over.ts";
import { migrating } from "./foreign/carry-out.ts";
import { importsOf } from "./foreign/adopt/imports.ts";
import { inferSystem } from "./foreign/adopt/infer.ts";
import { deploymentOf } from "./foreign/deployment-of.ts";
import { driftOf, isNewPolicy } from "./foreign/drift.ts";
import { liveWithReports } from "./foreign/live.ts";
import { evidenceOf } from "./prove/evidence.ts";
import { exportDefinitions } from "./make/export.ts";
import { terraformTypes } from "./foreign/import/resource-types.ts";
import { terraformTypeOf } from "../../foreign/terraform-state.ts";
import { exportTerraform } from "./make/terraform.ts";
import { graphOf } from "./graph.ts";
import { changesOf } from "./prove/change.ts";
import { assumedIn, withForeignPolicies } from "./prove/foreign-policies.ts";
import { subjectsOf } from "./prove/model.ts";
import { consuming } from "./run/index.ts";
import type { RabbitmqConnection } from "./run/connection.ts";
import { deployedPartsOf } from "./compile/parts.ts";
import { inPermissions, toAudit, toConsume, toDeploy, toOperate, toPublish } from "./compile/permissions.ts";
import type { MessageState } from "./prove/semantics.ts";
import { rules } from "./rules.ts";
import { stack } from "./stack.ts";
import { type RabbitmqTargetInput, checkRabbitmqTarget, parseRabbitmqTarget } from "./compile/target.ts";

const defaultNamespace = "/";

export interface RabbitmqBroker extends Broker<
  RabbitmqTarget,
  RabbitmqTargetInput,
  RabbitmqCompiled,
  MessageState,
  Deployment,
  RabbitmqConnection
> {
  readonly auditor: typeof auditor;
  readonly adopter: Adopter<RabbitmqTarget, Deployment, RabbitmqCompiled>;
  readonly differ: Differ<RabbitmqTarget, Deployment, RabbitmqCompiled, MessageState, HttpReader<Deployment>>;
  readonly defaultNamespace: string;
  readonly permissions: typeof permissions;
  readonly rules: typeof rules;
  readonly stack: typeof stack;
}

const permissions = Object.freeze({ toAudit, toConsume, toDeploy, toOperate, toPublish, inPermissions });

export const rabbitmq: RabbitmqBroker = Object.freeze({
  title: "RabbitMQ",
  exampleTarget: "rabbitmq@4.3",
  strategyNames,
  parseTarget: parseRabbitmqTarget,
  checkTarget: checkRabbitmqTarget,
  formatTarget,
  targetFor: withOwnStrategy,
  targetUnder: strategiesUnder,
  targetOver,
  isOlder,
  separator: ".",
  compile: (plan: Plan, target: RabbitmqTarget) => withForeignPolicies(compileRabbitmq(plan, target), target),
  assumedIn,
  graphOf,
  // The bundled command line loads the file behind a getter when it is used.
  get consuming() {
    return consuming;
  },
  deployedPartsOf,
  subjectsOf,
  changesOf,
  letterExchanges: ({ topology }: RabbitmqCompiled) =>
    topology.exchanges.flatMap(({ name, role }) => (role === "source" ? [] : [name])),
  evidenceOf,
  exportFormats: Object.freeze({
    definitions: ({ topology }: RabbitmqCompiled, namespace: string | null) =>
      exportDefinitions(topology, namespace ?? defaultNamespace),
    terraform: ({ topology }: RabbitmqCompiled, namespace: string | null) =>
      exportTerraform(topology, namespace ?? defaultNamespace),
  }),
  loadContractPages: async () => (await import("./pages/index.ts")).contractPages,
  get auditor() {
    return auditor;
  },
  get adopter() {
    return {
      infer: inferSystem,
      deployedOver,
      assumedOf: policiesOfOthers,
      fixed: ["queue", "exchange"],
      isNewPolicy,
      effect: `a deployment writes policies and bindings; the arguments of a queue cannot change in place, and the way is in ${docsPage("adopting")}`,
      terraformType: (token: string) => terraformTypeOf(terraformTypes, token),
      importsOf,
      programsOf: ({ virtualHosts: [host] }: Deployment, target: RabbitmqTarget) => ({
        folder: "examples/adopt",
        place: host?.name ?? "/",
        target: {
          broker: "rabbitmq",
          version: formatTarget(target).split("@")[1],
          ...(target.strategy !== "auto" && { strategy: target.strategy }),
        },
      }),
    };
  },
  get differ() {
    return { live: liveWithReports, compare: driftOf, deploymentOf };
  },
  get migrating() {
    return migrating;
  },
  loadOperating: async () => (await import("./operate/index.ts")).operating,
  operatingPackages: ["amqplib"],
  defaultNamespace,
  permissions,
  get rules() {
    return rules;
  },
  get stack() {
    return stack;
  },
});
