import { auditDeployment } from "../../src/brokers/rabbitmq/foreign/audit.ts";
import { readDefinitions } from "../../src/brokers/rabbitmq/foreign/read-definitions.ts";
import type { Diagnostic } from "../../src/index.ts";
import { parseTarget, renderDiagnostics } from "../../src/index.ts";

/** The findings of an audit of a definitions file. */
export function findingsIn(definitions: object, version: string, upgradeTo?: string): readonly Diagnostic[] {
  const read = readDefinitions(JSON.stringify({ rabbitmq_version: version, vhosts: [{ name: "/" }], ...definitions }));
  if (!read.ok) throw new Error(renderDiagnostics(read.diagnostics));
  return auditDeployment(read.value, targetOf(version), upgradeTo === undefined ? null : targetOf(upgradeTo));
}

function targetOf(version: string): Parameters<typeof auditDeployment>[1] {
  const target = parseTarget(`rabbitmq@${version}`);
  if (!target.ok) throw new Error(renderDiagnostics(target.diagnostics));
  return target.value;
}

type Arguments = Readonly<Record<string, unknown>>;

export function queue(name: string, given: Arguments = {}): object {
  return { name, vhost: "/", durable: true, auto_delete: false, arguments: given };
}

export function quorum(name: string, given: Arguments = {}): object {
  return queue(name, { "x-queue-type": "quorum", ...given });
}

export function deadTo(name: string): Arguments {
  return { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": name };
}

export function policy(name: string, pattern: string, definition: object): object {
  return { vhost: "/", name, pattern, "apply-to": "queues", definition, priority: 0 };
}
