import type { DeployedPart } from "../../deployed-part.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { BindingResource, Topology } from "./topology.ts";
import type { AttemptNumber } from "./contract.ts";

/**
 * The queues and exchanges of a system. RabbitMQ refuses to declare one again with another kind or other arguments. The
 * way of counting attempts cannot change either while a work queue holds messages. Source: docs, "Queues", section
 * "Declaration and Property Equivalence"; "Exchanges" says the same of them.
 */
export function deployedPartsOf({ topology, contracts }: RabbitmqCompiled): readonly DeployedPart[] {
  const counted = new Map(contracts.map(({ workQueue, attemptNumber }) => [workQueue, countOf(attemptNumber)]));
  const policies = new Map(topology.policies.map(({ name, definition }) => [name, definition]));
  return [
    ...topology.queues.map(({ name, role, consumer, durable, autoDelete, arguments: given }): DeployedPart => {
      const policy = policies.get(name);
      const waitsMs = policy?.["message-ttl"];
      return {
        kind: "queue",
        name,
        consumer,
        holds: role === "work" || role === "dead" ? role : "waiting",
        longestWaitMs: typeof waitsMs === "number" ? waitsMs : null,
        // The old rule counted the messages in the queue. Under the policy of a new rule they could loop.
        fixed: {
          durable,
          autoDelete,
          ...given,
          ...structureIn(policy),
          ...(role === "work" ? { "attempts counted in": counted.get(name) ?? "" } : {}),
        },
      };
    }),
    ...topology.exchanges.flatMap(
      ({ name, consumer, kind, pluginType, durable, autoDelete, arguments: given, owner }): readonly DeployedPart[] => {
        const part = { kind: "exchange", name, consumer, holds: null, longestWaitMs: null } as const;
        if (owner === "other") return [{ ...part, owner, fixed: { kind: pluginType ?? kind } }];
        return [{ ...part, fixed: { kind, durable, autoDelete, ...given } }];
      },
    ),
  ];
}

/** The structure in a queue's policy. Like the arguments of other queues it changes only with a new queue. */
function structureIn(policy: Topology["policies"][number]["definition"] = {}): DeployedPart["fixed"] {
  return Object.fromEntries(Object.entries(policy).filter(([key]) => key.startsWith("dead-letter-")));
}

/**
 * The header or key that carries the number of the next attempt. The broker sets it, or a consumer sets it on its
 * copies.
 */
function countOf(where: AttemptNumber | null): string {
  if (where === null) return "nothing";
  return where.from === "header" ? where.header : where.from === "exchange" ? "the exchange" : "the routing key";
}

/**
 * The part of a binding's logical name that tells it from the others of its system. No name on the broker contains a /
 * (RD204), so no two bindings have the same. The name of a deployed binding stays as it is: another one would delete the
 * binding.
 */
export function bindingIdentity({
  source,
  destinationKind,
  destination,
  routingKey,
  arguments: given,
}: BindingResource): string {
  const areTexts = Object.values(given).every((value) => typeof value === "string");
  // The number 1 and the text "1" are two matches.
  const headers = areTexts ? Object.entries(given).map(([key, value]) => `${key}=${value}`) : [JSON.stringify(given)];
  return [source, destinationKind, destination, ...(routingKey === "" ? [] : [routingKey]), ...headers].join("/");
}
