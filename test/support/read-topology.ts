import { readPulumiState } from "../../src/foreign/pulumi-state.ts";
import type { brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { brokers, type Diagnostic } from "../../src/index.ts";

/** The result of a reader of topologies. */
export type Read = ReturnType<typeof brokers.rabbitmq.auditor.file.read>;

/** Reads the RabbitMQ part of a stack's state. */
export function readState(text: string): Read {
  const state = readPulumiState(text);
  return state.ok ? brokers.rabbitmq.auditor.resources.read(state.value) : state;
}

type Topology = ReturnType<typeof brokerTopologyOf>;

/** The exchanges that every virtual host has. */
export const builtIn: readonly string[] = [
  "amq.direct",
  "amq.fanout",
  "amq.headers",
  "amq.match",
  "amq.topic",
  "amq.rabbitmq.trace",
];

/** The topology of one virtual host, or a failed test with the diagnostics in it. */
export function topologyIn(read: Read, vhost = "/"): Topology {
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const found = read.value.virtualHosts.find(({ name }) => name === vhost);
  if (found === undefined) throw new Error(`${vhost} was not read`);
  return found.topology;
}

export function withoutBuiltIn({ exchanges, ...rest }: Topology): Topology {
  return { ...rest, exchanges: exchanges.filter(({ name }) => !builtIn.includes(name)) };
}

export function reported(read: Read): readonly Diagnostic[] {
  return read.ok ? read.warnings : read.diagnostics;
}

export function codesOf(read: Read): string[] {
  return reported(read).map(({ code }) => code);
}
