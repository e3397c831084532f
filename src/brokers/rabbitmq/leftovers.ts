import type { Leftover } from "../broker.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { Deployment } from "./deployment.ts";
import type { BrokerBinding, BrokerTopology } from "./semantics.ts";

/**
 * What bears the system's name in a virtual host and is not declared any more: ways into queues, queues, exchanges, and bindings between
 * what is declared. Each comes after what still needs it, so that they can be removed in this order. Requests are for the management API.
 */
export function leftoversIn(deployment: Deployment, compiled: RabbitmqCompiled): readonly Leftover[] {
  return deployment.virtualHosts.flatMap(({ name, topology }) => leftoversOf(name, topology, compiled));
}

function leftoversOf(virtualHost: string, found: BrokerTopology, { topology }: RabbitmqCompiled): Leftover[] {
  const isOwn = (name: string): boolean => name.startsWith(`${topology.system}.`);
  const declared = {
    queues: new Set(topology.queues.map(({ name }) => name)),
    exchanges: new Set(topology.exchanges.map(({ name }) => name)),
    bindings: new Set(topology.bindings.map(keyOf)),
  };
  const queues = found.queues.filter(({ name }) => isOwn(name) && !declared.queues.has(name));
  const exchanges = found.exchanges.filter(({ name }) => isOwn(name) && !declared.exchanges.has(name));
  const gone = new Set([...queues, ...exchanges].map(({ name }) => name));
  const bindings = found.bindings.filter(
    (each) =>
      isOwn(each.source) &&
      isOwn(each.destination) &&
      !gone.has(each.source) &&
      !gone.has(each.destination) &&
      !declared.bindings.has(keyOf(each)),
  );
  const path = (...words: readonly string[]): string => `/api/${words.map(encodeURIComponent).join("/")}`;
  const unbind = ({ source, destination, destinationKind, routingKey }: BrokerBinding): string =>
    // A binding without arguments is known by its key, and by ~ where it has none.
    `DELETE ${path("bindings", virtualHost, "e", source, destinationKind === "queue" ? "q" : "e", destination, routingKey === "" ? "~" : routingKey)}`;
  const bindingOf = (each: BrokerBinding, holds: "work" | null): Leftover => ({
    place: virtualHost,
    kind: "binding",
    name: `${each.source} to ${each.destination}${each.routingKey === "" ? "" : ` with the key ${each.routingKey}`}`,
    holds,
    longestWaitMs: null,
    removal: [unbind(each)],
  });
  const goneQueues = new Set(queues.map(({ name }) => name));
  const waysIn = found.bindings.filter(({ source, destination }) => goneQueues.has(destination) && !gone.has(source));
  return [
    ...waysIn.map((each) => bindingOf(each, "work")),
    ...queues.toSorted(byStage).map((queue): Leftover => {
      return {
        place: virtualHost,
        kind: "queue",
        name: queue.name,
        holds: holdsOf(queue.name),
        longestWaitMs: waitIn(found, queue.name),
        removal: [
          `DELETE ${path("queues", virtualHost, queue.name)}`,
          `DELETE ${path("policies", virtualHost, queue.name)}`,
        ],
      };
    }),
    ...exchanges.map(({ name }): Leftover => ({
      place: virtualHost,
      kind: "exchange",
      name,
      holds: null,
      longestWaitMs: null,
      removal: [`DELETE ${path("exchanges", virtualHost, name)}`],
    })),
    ...bindings.map((each) => bindingOf(each, null)),
  ];
}

/** How long the queue's own policy keeps a message. */
function waitIn({ policies }: BrokerTopology, queue: string): number | null {
  const waitMs = policies.find(({ kind, name }) => kind === "user" && name === queue)?.definition["message-ttl"];
  return typeof waitMs === "number" ? waitMs : null;
}

const stages = ["waiting", "work", "dead"] as const;

/** What waits comes back into a work queue, and what fails there dies into a dead queue. */
function byStage(a: { readonly name: string }, b: { readonly name: string }): number {
  return stages.indexOf(holdsOf(a.name)) - stages.indexOf(holdsOf(b.name)) || (a.name < b.name ? -1 : 1);
}

function holdsOf(name: string): "waiting" | "work" | "dead" {
  if (/\.attempt\.\d+$|\.wait\.\d+ms$/.test(name)) return "waiting";
  return /\.dead$|\.wait\.undeliverable$/.test(name) ? "dead" : "work";
}

function keyOf({ source, destination, destinationKind, routingKey, arguments: given }: BrokerBinding): string {
  return JSON.stringify([source, destination, destinationKind, routingKey, Object.entries(given).toSorted()]);
}
