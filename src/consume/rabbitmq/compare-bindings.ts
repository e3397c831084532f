import type { CompiledSystem } from "../../brokers/index.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";

type Topology = CompiledSystem<"rabbitmq">["topology"];
export type Binding = Topology["bindings"][number];

interface FoundBindings {
  readonly queues: ReadonlyMap<string, unknown>;
  readonly exchanges: ReadonlyMap<string, unknown>;
  readonly bindings: readonly Binding[];
}

/**
 * Compares what is bound with what was compiled. One that is missing loses the messages that would take it, or holds them up for ever. One too many
 * matters where it leads out of a place that belongs to the retries of this consumer alone: what waits there would be somewhere else as well.
 * Sources and dead letters may be bound to more queues by anybody.
 */
export function compareBindings(topology: Topology, found: FoundBindings): readonly Diagnostic[] {
  const wanted = new Set(topology.bindings.map(keyOf));
  const deployed = new Set(found.bindings.map(keyOf));
  const inner = new Set(topology.exchanges.filter(isInner).map(({ name }) => name));
  const missing = topology.bindings.filter((binding) => hasEnds(found, binding) && !deployed.has(keyOf(binding)));
  const added = found.bindings.filter((binding) => inner.has(binding.source) && !wanted.has(keyOf(binding)));
  const sources = new Set([...missing, ...added].map(({ source }) => source));
  return [...sources].map((source) =>
    diagnostic("RD810", {
      path: source,
      message: `what is bound to the exchange ${source} differs from what was compiled`,
      notes: [
        ...missing.flatMap((each) => (each.source === source ? [`${textOf(each)}: compiled, and not deployed`] : [])),
        ...added.flatMap((each) => (each.source === source ? [`${textOf(each)}: deployed, and not compiled`] : [])),
      ],
      help: "deploy the system again; where a binding is too many, take it away by hand",
    }),
  );
}

/** Without one of its ends a binding cannot be there, and that end is what is missing. */
function hasEnds({ queues, exchanges }: FoundBindings, { source, destination, destinationKind }: Binding): boolean {
  const isDestinationThere = (destinationKind === "queue" ? queues : exchanges).has(destination);
  return isDestinationThere && exchanges.has(source);
}

/** Whether nothing else than one consumer's retries, or those of one delay, is to go through it. */
function isInner({ role, consumer }: Topology["exchanges"][number]): boolean {
  switch (role) {
    case "failed":
    case "retry":
    case "past":
    case "first":
    case "wait":
      return true;
    case "again":
      return consumer !== null;
    case "source":
    case "dead":
    case "undeliverable":
      return false;
    default:
      return role satisfies never;
  }
}

function keyOf({ source, destination, destinationKind, routingKey, arguments: given }: Binding): string {
  const sorted = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([source, destination, destinationKind, routingKey, sorted]);
}

function textOf({ destination, destinationKind, routingKey, arguments: given }: Binding): string {
  const values = Object.keys(given).length === 0 ? "" : `, ${JSON.stringify(given)}`;
  return `to the ${destinationKind} ${destination} with the key ${JSON.stringify(routingKey)}${values}`;
}
