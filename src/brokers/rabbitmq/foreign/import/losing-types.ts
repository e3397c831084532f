import type { StayingResource, LosingType } from "../../../broker.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { isUnreadable } from "../../../../foreign/pulumi-resource.ts";
import { exactPattern } from "../../compile/names.ts";
import { writtenArguments } from "./arguments.ts";
import { bindingType, exchangeType, policyType, queueType, virtualHostType } from "./resource-types.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";

/** Source: `queue.delete` and "Exchanges" in the AMQP 0-9-1 model of RabbitMQ. The provider sets no `if-empty`. */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  [queueType]: {
    holds: true,
    loss: "RabbitMQ deletes every message in it",
    isTemporary: isTransientQueue,
    identity: ["name", "vhost"],
  },
  [virtualHostType]: {
    holds: true,
    loss: "RabbitMQ deletes every queue in it with all messages",
    identity: ["name"],
  },
  [exchangeType]: {
    holds: false,
    loss: "its bindings go with it, and until they exist again RabbitMQ drops messages dead-lettered to it and refuses published ones",
    identity: ["name", "vhost"],
    strands: ({ name, vhost }, staying) => {
      const queue = staying.find((each) => isQueueIn(each, vhost) && deadExchangeOf(each, staying) === name);
      return queue === undefined
        ? null
        : `${nameOf(queue)} stays on the broker, and messages that die in it then have no destination`;
    },
  },
  [bindingType]: {
    holds: false,
    loss: "RabbitMQ drops the messages it routes until it exists again",
    identity: ["source", "destination", "destinationType", "routingKey", "arguments", "argumentsJson", "vhost"],
    strands: ({ source, destination, vhost }, staying) => {
      // Only a queue that the program gives up counts. If the queue is still in the program, its author removed the
      // routing key on purpose.
      const filled = staying.find(
        (each) => each.isLeft && isQueueIn(each, vhost) && each.properties["name"] === destination,
      );
      if (filled !== undefined)
        return `${nameOf(filled)} stays on the broker, and messages published to ${wordOf(source)} no longer reach it`;
      const hasOther = staying.some(({ type, properties }) => type === bindingType && properties["source"] === source);
      if (hasOther) return null;
      const drained = staying.find((each) => isQueueIn(each, vhost) && deadExchangeOf(each, staying) === source);
      return drained === undefined
        ? null
        : `${nameOf(drained)} stays on the broker, and messages that die in it no longer reach ${wordOf(destination)}`;
    },
  },
  [policyType]: {
    holds: false,
    loss: "its settings do not apply until it exists again",
    identity: ["name", "vhost"],
    strands: ({ policy, vhost }, staying) => {
      const pattern = isEntry(policy) ? policy["pattern"] : undefined;
      const queue = staying.find((each) => isQueueIn(each, vhost) && exactPattern(nameOf(each)) === pattern);
      if (queue === undefined) return null;
      const { definition } = isEntry(policy) ? policy : {};
      if (isEntry(definition) && definition["dead-letter-exchange"] !== undefined)
        return `${nameOf(queue)} stays on the broker without its dead-letter exchange, so RabbitMQ deletes the messages that die in it`;
      const hasOther = staying.some(({ type, isLeft }) => type === policyType && !isLeft);
      if (!queue.isLeft && hasOther) return null;
      return `${nameOf(queue)} stays on the broker without its settings, so its messages may wait for ever`;
    },
  },
});

/**
 * The provider makes a queue transient unless the program says otherwise. An unknown value counts as transient, so that
 * it gives no false finding.
 */
function isTransientQueue({ settings }: Entry): boolean {
  if (!isEntry(settings)) return true;
  const { durable, autoDelete } = settings;
  return durable !== true || autoDelete === true || isUnreadable(autoDelete);
}

function isQueueIn({ type, properties }: StayingResource, virtualHost: unknown): boolean {
  return type === queueType && (properties["vhost"] ?? "/") === (virtualHost ?? "/");
}

function nameOf({ properties }: StayingResource): string {
  return wordOf(properties["name"]);
}

/** By its arguments, or by the policy for it alone. */
function deadExchangeOf(queue: StayingResource, staying: readonly StayingResource[]): unknown {
  const { settings } = queue.properties;
  const given = isEntry(settings) ? writtenArguments(settings) : undefined;
  const byArgument = isEntry(given) ? given["x-dead-letter-exchange"] : undefined;
  if (byArgument !== undefined) return byArgument;
  const policies = staying.flatMap(({ type, properties: { policy } }) =>
    type === policyType && isEntry(policy) && policy["pattern"] === exactPattern(nameOf(queue))
      ? [policy["definition"]]
      : [],
  );
  return policies.flatMap((definition) => (isEntry(definition) ? (definition["dead-letter-exchange"] ?? []) : []))[0];
}
