import type { Auditor, Broker, HttpReader } from "../broker.ts";
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
import { certainResources } from "./import/certain-resources.ts";
import { losingTypes } from "./import/losing-types.ts";
import { deploymentOfResources, isRabbitmqResource, placesOf } from "./import/pulumi-resources.ts";
import { queueType } from "./import/resource-types.ts";
import { leftoversIn } from "./leftovers.ts";
import { live } from "./live.ts";
import { subjectsOf } from "./model.ts";
import { deployedPartsOf } from "./parts.ts";
import { readDefinitions } from "./read-definitions.ts";
import type { MessageState } from "./semantics.ts";
import type { RabbitmqTargetInput } from "./target.ts";
import { checkRabbitmqTarget, parseRabbitmqTarget } from "./target.ts";

const defaultNamespace = "/";

/** What RabbitMQ has that a broker need not have. */
export interface RabbitmqBroker extends Broker<
  RabbitmqTarget,
  RabbitmqTargetInput,
  RabbitmqCompiled,
  MessageState,
  Deployment
> {
  readonly auditor: Auditor<RabbitmqTarget, Deployment, RabbitmqCompiled, HttpReader<Deployment>>;
  readonly defaultNamespace: string;
}

/** RabbitMQ, as the rest of Redeliver sees it. */
export const rabbitmq: RabbitmqBroker = Object.freeze({
  title: "RabbitMQ",
  strategyNames,
  parseTarget: parseRabbitmqTarget,
  checkTarget: checkRabbitmqTarget,
  formatTarget,
  compile: compileRabbitmq,
  graphOf,
  deployedPartsOf,
  subjectsOf,
  evidenceOf,
  exportFormats: Object.freeze({
    definitions: ({ topology }: RabbitmqCompiled, namespace: string | null) =>
      exportDefinitions(topology, namespace ?? defaultNamespace),
  }),
  auditor: Object.freeze({
    file: Object.freeze({
      option: "definitions",
      what: "what rabbitmqctl export_definitions wrote",
      read: readDefinitions,
    }),
    resources: Object.freeze({
      isOwn: isRabbitmqResource,
      plainTypeOf: (type: string) => type,
      losingTypes,
      // Everything has the name that the program gives it.
      assigned: Object.freeze({}),
      queueType,
      isRead: isRabbitmqResource,
      placesOf,
      certain: certainResources,
      read: deploymentOfResources,
    }),
    live,
    partNoun: "virtual host",
    rulesOf: formatTarget,
    newestTarget: "rabbitmq@4.3",
    targetOf,
    partsOf,
    leftoversIn,
    audit: auditDeployment,
  }),
  defaultNamespace,
});
