import type { Auditor, HttpReader } from "../broker.ts";
import { auditDeployment } from "./foreign/audit.ts";
import { type RabbitmqTarget, formatTarget } from "./compile/capabilities.ts";
import type { RabbitmqCompiled } from "./compile/compile.ts";
import { type Deployment, partsOf, targetOf } from "./foreign/deployment.ts";
import { certainResources } from "./foreign/import/certain-resources.ts";
import { losingTypes } from "./foreign/import/losing-types.ts";
import { deploymentOfResources, isRabbitmqResource, placesOf } from "./foreign/import/pulumi-resources.ts";
import { queueType, terraformTypes } from "./foreign/import/resource-types.ts";
import { leftoversIn } from "./foreign/leftovers.ts";
import { live } from "./foreign/live.ts";
import { readDefinitions } from "./foreign/read-definitions.ts";

export const auditor: Auditor<RabbitmqTarget, Deployment, RabbitmqCompiled, HttpReader<Deployment>> = Object.freeze({
  file: Object.freeze({
    option: "definitions",
    what: "the output of rabbitmqctl export_definitions",
    read: readDefinitions,
  }),
  resources: Object.freeze({
    terraformTypes,
    isOwn: isRabbitmqResource,
    plainTypeOf: (type: string) => type,
    losingTypes,
    // Every resource has the name that the program gives it.
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
});
