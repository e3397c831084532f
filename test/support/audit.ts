import { auditDeployment } from "../../src/brokers/rabbitmq/foreign/audit.ts";
import { readDefinitions } from "../../src/brokers/rabbitmq/foreign/read-definitions.ts";
import { type Diagnostic, parseTarget, renderDiagnostics } from "../../src/index.ts";
import { type Arguments, queue, vhosts } from "./known-topologies.ts";

/** The findings of an audit of a definitions file. */
export function findingsIn(definitions: object, version: string, upgradeTo?: string): readonly Diagnostic[] {
  const read = readDefinitions(JSON.stringify({ rabbitmq_version: version, vhosts, ...definitions }));
  if (!read.ok) throw new Error(renderDiagnostics(read.diagnostics));
  return auditDeployment(read.value, targetOf(version), upgradeTo === undefined ? null : targetOf(upgradeTo));
}

function targetOf(version: string): Parameters<typeof auditDeployment>[1] {
  const target = parseTarget(`rabbitmq@${version}`);
  if (!target.ok) throw new Error(renderDiagnostics(target.diagnostics));
  return target.value;
}

export function quorum(name: string, given: Arguments = {}): object {
  return queue(name, { "x-queue-type": "quorum", ...given });
}

export function policy(name: string, pattern: string, definition: object): object {
  return { vhost: "/", name, pattern, "apply-to": "queues", definition, priority: 0 };
}
