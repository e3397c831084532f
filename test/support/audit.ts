import { auditDeployment } from "../../src/brokers/rabbitmq/foreign/audit.ts";
import { readDefinitions } from "../../src/brokers/rabbitmq/foreign/read-definitions.ts";
import { type Diagnostic, parseTarget } from "../../src/index.ts";
import { type Arguments, queue, vhosts } from "./known-topologies.ts";
import { accepted } from "./examples.ts";

/** The findings of an audit of a definitions file. */
export function findingsIn(definitions: object, version: string, upgradeTo?: string): readonly Diagnostic[] {
  const read = accepted(readDefinitions(JSON.stringify({ rabbitmq_version: version, vhosts, ...definitions })));
  return auditDeployment(read, targetOf(version), upgradeTo === undefined ? null : targetOf(upgradeTo));
}

function targetOf(version: string): Parameters<typeof auditDeployment>[1] {
  return accepted(parseTarget(`rabbitmq@${version}`));
}

export function quorum(name: string, given: Arguments = {}): object {
  return queue(name, { "x-queue-type": "quorum", ...given });
}

export function policy(name: string, pattern: string, definition: object): object {
  return { vhost: "/", name, pattern, "apply-to": "queues", definition, priority: 0 };
}
