import * as rabbitmq from "@pulumi/rabbitmq";

import { type ExchangeResource, type QueueResource, type Topology, isStructure } from "../compile/topology.ts";
import { find, kept } from "../../../deploy/resource-options.ts";
import { addBindings } from "./bindings.ts";
import { isLasting } from "./lasting.ts";
import { partOf } from "./part.ts";
import {
  type Deploying,
  type Made,
  type RabbitmqPlacement,
  addPolicy,
  argumentInputs,
  policyOrder,
} from "./resources.ts";

/**
 * Creates the Pulumi resources of a topology, or of one part of it, each exactly once and no others.
 *
 * **Order.** Queues come first, while no binding leads into them. Then come a queue's policy, the exchanges and the
 * bindings. A binding waits for all that a message needs behind it. So no message enters a queue that it could not
 * leave. If a queue cannot be created, because one with other arguments exists, its policy stays as it is. The running
 * consumer then keeps working. Only a policy for a name that the broker does not have yet comes before its queue or
 * exchange. The policy of a queue that exists without Redeliver's arguments comes after its ways out, because that policy
 * opens them.
 *
 * **Deletion.** A resource that a message may still need stays on the broker when it leaves the program. Pulumi looks
 * only at the state for this, so it holds for `destroy` and without a preview, too. Only the binding for a routing key
 * that a consumer no longer wants is deleted. It stays if the work queue leaves the program in the same update.
 *
 * **Protection.** Resources that every message of a consumer needs are protected: a user has to remove the protection
 * before they can leave the program. Tiers and waits are not, since fewer attempts and other delays are everyday
 * changes.
 *
 * **Replacement.** Pulumi creates the new resource before it deletes the old one. So the broker itself refuses a second
 * queue or exchange of the same name with other arguments, before anything is gone. Names are plain texts, because with
 * outputs Pulumi would replace the bindings, too.
 *
 * Source: `continueStepsFromDiff`, `DeleteStep.Apply` in Pulumi's `pkg/resource/deploy`.
 *
 * @throws Error if the topology refers to a resource that it does not have, which is a bug in Redeliver
 */
export function deployRabbitmq(whole: Topology, placement: RabbitmqPlacement) {
  const made: Made = { exchanges: new Map(), queues: new Map(), policies: new Map(), bindings: [] };
  const { own: topology, outside } = partOf(whole, placement.part);
  const deploying = { ...placement, made, outside, order: policyOrder(placement, made) };
  for (const queue of topology.queues) addQueue(deploying, queue);
  const roles = new Map(topology.queues.map(({ name, role }) => [name, role]));
  for (const policy of topology.policies) {
    if (policy.applyTo === "exchanges" || isStructure(policy)) continue;
    addPolicy(deploying, policy, isLasting(roles.get(policy.name)), [find(made.queues, policy.name)]);
  }
  for (const exchange of topology.exchanges) if (exchange.owner !== "other") addExchange(deploying, exchange);
  addBindings(deploying, whole, topology);
  const workQueues = topology.queues.flatMap(({ role, consumer, name }) =>
    role === "work" && consumer !== null ? [[consumer, find(made.queues, name).name] as const] : [],
  );
  const { exchanges, queues, policies, bindings } = made;
  const all = [...exchanges.values(), ...queues.values(), ...policies.values(), ...bindings];
  return { workQueues: Object.fromEntries(workQueues), made: all };
}

function addQueue({ made, order, name, parent, namespace, areImported }: Deploying, queue: QueueResource): void {
  const resource = new rabbitmq.Queue(
    `${name}-${queue.name}`,
    {
      name: queue.name,
      vhost: namespace,
      settings: {
        durable: queue.durable,
        autoDelete: queue.autoDelete,
        ...argumentInputs(queue.arguments, areImported),
      },
    },
    { ...kept(parent, isLasting(queue.role)), dependsOn: order.beforeThing(queue.name, []) },
  );
  made.queues.set(queue.name, resource);
}

function addExchange({ made, outside, order, name, parent, namespace }: Deploying, exchange: ExchangeResource): void {
  const alternate = exchange.arguments["alternate-exchange"];
  const behind = alternate === undefined || outside.exchanges.has(alternate) ? [] : [find(made.exchanges, alternate)];
  const resource = new rabbitmq.Exchange(
    `${name}-${exchange.name}`,
    {
      name: exchange.name,
      vhost: namespace,
      settings: {
        type: exchange.kind,
        durable: exchange.durable,
        autoDelete: exchange.autoDelete,
        ...(alternate === undefined ? {} : { arguments: exchange.arguments }),
      },
    },
    {
      ...kept(parent, isLasting(exchange.role)),
      dependsOn: order.beforeThing(exchange.name, behind),
    },
  );
  made.exchanges.set(exchange.name, resource);
}
