import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { Contract } from "../compile/contract.ts";
import type { Difference } from "../compile/differences.ts";
import type { Topology } from "../compile/topology.ts";
import { closureOf, indexTopology } from "../prove/closure.ts";
import { remembered } from "../prove/remembered.ts";

/**
 * The consumers that a difference can concern, for the proofs of these alone. A system of thousands of queues may have
 * as many differences, and each of them concerns few consumers.
 *
 * A proof looks resources up by their names. If it never asked for the names in a difference, it finds the same
 * topology as before. A consumer takes a source's messages from its own queue only. So a binding from a source to
 * another consumer's queue concerns that consumer, and those whose messages come back into the source.
 */
export function concerned(base: Topology, { contracts }: RabbitmqCompiled): (all: readonly Difference[]) => Contracts {
  const index = indexTopology(base);
  const asking = new Map<string, Set<Contract>>();
  const taking = new Map<string, Set<Contract>>();
  const note = (by: Map<string, Set<Contract>>, name: string, contract: Contract): void => {
    const known = by.get(name);
    if (known === undefined) by.set(name, new Set([contract]));
    else known.add(contract);
  };
  for (const contract of contracts) {
    for (const name of closureOf(index, contract).asked) note(asking, name, contract);
    for (const { exchange } of contract.sources) note(taking, exchange, contract);
  }
  const workQueues = new Set(base.queues.flatMap(({ name, role }) => (role === "work" ? [name] : [])));
  const byEnd = remembered((name: string) =>
    base.bindings.filter(({ source, destination }) => source === name || destination === name),
  );
  const ofBinding = ({ source, destination, destinationKind, routingKey }: Ends): readonly Contract[] => [
    // The proof follows only those bindings of a direct exchange that have a known key.
    ...(index.exchanges.get(source)?.kind === "direct"
      ? [...(asking.get(routingKey) ?? [])].filter((contract) => asking.get(source)?.has(contract))
      : (asking.get(source) ?? [])),
    ...(asking.get(destination) ?? []),
    ...(destinationKind === "queue" && workQueues.has(destination) ? [] : (taking.get(source) ?? [])),
  ];
  const ofDifference = (difference: Difference): readonly Contract[] =>
    difference.kind === "binding"
      ? ofBinding(difference.binding)
      : [
          ...(asking.get(difference.name) ?? []),
          ...(taking.get(difference.name) ?? []),
          // A queue or an exchange goes with its bindings.
          ...byEnd(difference.name).flatMap(ofBinding),
        ];
  return (all) => {
    const found = new Set(all.flatMap(ofDifference));
    return contracts.filter((contract) => found.has(contract));
  };
}

type Contracts = readonly Contract[];
type Ends = Pick<Topology["bindings"][number], "source" | "destination" | "destinationKind" | "routingKey">;
