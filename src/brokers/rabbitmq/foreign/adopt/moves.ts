import type { Imports, Move } from "../../../../adopt/found.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { bindingKey } from "../../compile/differences.ts";
import type { BrokerBinding } from "../../prove/semantics.ts";
import type { Deployment } from "../deployment.ts";
import { sameWays } from "../left-ways.ts";
import { unbind } from "../leftovers.ts";

/** The consumers with a queue whose arguments would have to change, and the next name for the work queue of each. */
export function movesOf({ virtualHosts }: Deployment, compiled: RabbitmqCompiled, { left }: Imports): readonly Move[] {
  const { topology } = compiled;
  const [host] = virtualHosts;
  if (host === undefined) return [];
  const fixed = new Set(left.map(({ place }) => place));
  const { topology: found } = host;
  // The new queue gets these ways, too. By any other one messages come back from waiting, or nothing declares it.
  const declared = new Set([...topology.bindings, ...sameWays(found, compiled)].map(bindingKey));
  const isDeclared = (each: BrokerBinding): boolean => declared.has(bindingKey(each));
  const known = new Set([...found.queues, ...topology.queues].map(({ name }) => name));
  return topology.queues.flatMap(({ name: queue, role, consumer }): readonly Move[] => {
    if (role !== "work" || consumer === null) return [];
    const own = topology.queues.filter((each) => each.consumer === consumer);
    if (!own.some(({ name }) => fixed.has(`queue ${name}`))) return [];
    const [, stem = queue] = /^(.+)\.\d+$/.exec(queue) ?? [];
    let next = 2;
    while (known.has(`${stem}.${next}`)) next++;
    const waysIn = found.bindings.filter(
      ({ source, destination, destinationKind }) =>
        source !== "" && destination === queue && destinationKind === "queue",
    );
    const [doubled, others] = [waysIn.filter(isDeclared), waysIn.filter((each) => !isDeclared(each))];
    const dead = own.find((each) => each.role === "dead")?.name;
    return [
      {
        consumer,
        queue,
        next: `${stem}.${next}`,
        dead: dead !== undefined && found.queues.some(({ name }) => name === dead) ? dead : null,
        unbind: doubled.map((each) => unbind(host.name, each)),
        staying: [...new Set(others.map(({ source }) => source))],
      },
    ];
  });
}
