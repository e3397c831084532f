import type { StayingResource, LosingType } from "../../broker.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { parseJson } from "../../parse-json.ts";
import { isUnreadable } from "../../pulumi-resource.ts";
import { exactPattern } from "../names.ts";
import { bindingType, exchangeType, policyType, queueType, virtualHostType } from "./resource-types.ts";

/** Source: `queue.delete` and "Exchanges" in the AMQP 0-9-1 model of RabbitMQ, whose provider names no `if-empty`. */
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
    isTemporary: () => false,
    identity: ["name"],
  },
  [exchangeType]: {
    holds: false,
    loss: "its bindings go with it, and until they are there again RabbitMQ drops what is dead-lettered to it and refuses what is published",
    isTemporary: () => false,
    identity: ["name", "vhost"],
    strands: ({ name, vhost }, staying) => {
      const queue = staying.find(
        (each) => isQueueIn(each, vhost) && argumentOf(each.properties, "x-dead-letter-exchange") === name,
      );
      return queue === undefined
        ? null
        : `${nameOf(queue)} stays on the broker, and what dies in it has nowhere to go from then on`;
    },
  },
  [bindingType]: {
    holds: false,
    loss: "what comes by it is dropped until it is there again",
    isTemporary: () => false,
    identity: ["source", "destination", "destinationType", "routingKey", "arguments", "argumentsJson", "vhost"],
    strands: ({ source, destination, vhost }, staying) => {
      // Of a queue that is still in the program somebody has taken a routing key away.
      const filled = staying.find(
        (each) => each.isLeft && isQueueIn(each, vhost) && each.properties["name"] === destination,
      );
      if (filled !== undefined)
        return `${nameOf(filled)} stays on the broker, and what is published to ${String(source)} no longer comes to it`;
      const hasOther = staying.some(({ type, properties }) => type === bindingType && properties["source"] === source);
      if (hasOther) return null;
      const drained = staying.find(
        (each) => isQueueIn(each, vhost) && argumentOf(each.properties, "x-dead-letter-exchange") === source,
      );
      return drained === undefined
        ? null
        : `${nameOf(drained)} stays on the broker, and what dies in it no longer comes to ${String(destination)}`;
    },
  },
  [policyType]: {
    holds: false,
    loss: "its settings are not in force until it is there again",
    isTemporary: () => false,
    identity: ["name", "vhost"],
    strands: ({ policy, vhost }, staying) => {
      const pattern = isEntry(policy) ? policy["pattern"] : undefined;
      const queue = staying.find((each) => isQueueIn(each, vhost) && exactPattern(nameOf(each)) === pattern);
      const hasOther = staying.some(({ type, isLeft }) => type === policyType && !isLeft);
      if (queue?.isLeft === false && hasOther) return null;
      return queue === undefined
        ? null
        : `${nameOf(queue)} stays on the broker without its settings, so what waits in it may wait for ever`;
    },
  },
});

/** The provider makes a queue transient unless it is told otherwise. What is not known may be either, so nothing is said. */
function isTransientQueue({ settings }: Entry): boolean {
  if (!isEntry(settings)) return true;
  const { durable, autoDelete } = settings;
  return durable !== true || autoDelete === true || isUnreadable(autoDelete);
}

function isQueueIn({ type, properties }: StayingResource, virtualHost: unknown): boolean {
  return type === queueType && (properties["vhost"] ?? "/") === (virtualHost ?? "/");
}

function nameOf({ properties }: StayingResource): string {
  return String(properties["name"]);
}

/** An argument of a queue, in whichever of the two forms it is written. */
function argumentOf({ settings }: Entry, name: string): unknown {
  if (!isEntry(settings)) return undefined;
  const { arguments: given, argumentsJson } = settings;
  if (isEntry(given)) return given[name];
  const parsed = typeof argumentsJson === "string" ? parseJson(argumentsJson, "the arguments") : null;
  return parsed?.ok === true && isEntry(parsed.value) ? parsed.value[name] : undefined;
}
