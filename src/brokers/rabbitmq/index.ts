import type { Broker } from "../broker.ts";
import { auditDeployment } from "./audit.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import { compileRabbitmq } from "./compile.ts";
import type { Deployment } from "./deployment.ts";
import { partsOf, targetOf } from "./deployment.ts";
import { evidenceOf } from "./evidence.ts";
import { exportDefinitions } from "./export.ts";
import { graphOf } from "./graph.ts";
import { live } from "./live.ts";
import { subjectsOf } from "./model.ts";
import { readDefinitions } from "./read-definitions.ts";
import { readPulumiState } from "./read-pulumi-state.ts";
import type { MessageState } from "./semantics.ts";
import { parseRabbitmqTarget } from "./target.ts";

/** RabbitMQ, as the rest of Redeliver sees it. */
export const rabbitmq: Broker<RabbitmqTarget, RabbitmqCompiled, MessageState, Deployment> = Object.freeze({
  title: "RabbitMQ",
  strategyNames,
  parseTarget: parseRabbitmqTarget,
  formatTarget,
  compile: compileRabbitmq,
  graphOf,
  subjectsOf,
  evidenceOf,
  exportFormats: Object.freeze({
    definitions: ({ topology }: RabbitmqCompiled, namespace: string) => exportDefinitions(topology, namespace),
  }),
  auditor: Object.freeze({
    importFormats: Object.freeze({ definitions: readDefinitions, stack: readPulumiState }),
    live,
    targetOf,
    partsOf,
    audit: auditDeployment,
  }),
  defaultNamespace: "/",
});
