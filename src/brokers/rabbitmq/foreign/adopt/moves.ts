import type { Move } from "../../../../adopt/found.ts";
import type { Importable } from "../../../../adopt/imports-below.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { bindingKey } from "../../compile/differences.ts";
import type { BrokerBinding } from "../../prove/semantics.ts";
import type { VirtualHost } from "../deployment.ts";
import { sameWays } from "../left-ways.ts";
import { unbind } from "../leftovers.ts";

/** The consumers with a queue whose arguments would have to change, and the next name for the work queue of each. */
export function movesOf(
  { name: virtualHost, topology: found }: VirtualHost,
  compiled: RabbitmqCompiled,
  all: readonly Importable[],
): readonly Move[] {
  const { topology } = compiled;
  const fixed = new Set(all.flatMap(({ place, id, reason }) => (id === null || reason === null ? [] : [place])));
  // The new queue gets these ways, too. By any other one messages come back from waiting, or nothing declares it.
  const declared = new Set([...topology.bindings, ...sameWays(found, compiled)].map(bindingKey));
  const isDeclared = (each: BrokerBinding): boolean => declared.has(bindingKey(each));
  const known = [...found.queues, ...topology.queues].map(({ name }) => name);
  return topology.queues.flatMap(({ name: queue, role, consumer }): readonly Move[] => {
    if (role !== "work" || consumer === null) return [];
    const own = topology.queues.filter((each) => each.consumer === consumer);
    if (!own.some(({ name }) => fixed.has(`queue ${name}`))) return [];
    const [, stem = queue] = /^(.+)\.\d+$/.exec(queue) ?? [];
    let next = 2;
    // Its dead queue and its waiting queues begin with the same name.
    while (known.some((name) => name.startsWith(`${stem}.${next}`))) next++;
    known.push(`${stem}.${next}`);
    const waysIn = found.bindings.filter(
      ({ source, destination, destinationKind }) =>
        source !== "" && destination === queue && destinationKind === "queue",
    );
    const [doubled, others] = [waysIn.filter(isDeclared), waysIn.filter((each) => !isDeclared(each))];
    const { name: dead = "" } = own.find((each) => each.role === "dead") ?? {};
    return [
      {
        consumer,
        queue,
        next: `${stem}.${next}`,
        hasFixedDead: fixed.has(`queue ${dead}`),
        dead: found.queues.some(({ name }) => name === dead) ? dead : null,
        unbind: doubled.map((each) => unbind(virtualHost, each)),
        staying: [...new Set(others.map(({ source }) => source))],
        isOrdered: found.queues.some(
          (each) => each.name === queue && each.arguments["x-single-active-consumer"] === true,
        ),
      },
    ];
  });
}
