import type { LosingType } from "../../broker.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { isUnreadable } from "../../pulumi-resource.ts";
import { exchangeType, queueType, virtualHostType } from "./resource-types.ts";

/** Source: `queue.delete` and "Exchanges" in the AMQP 0-9-1 model of RabbitMQ, whose provider names no `if-empty`. */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  [queueType]: {
    holds: true,
    loss: "RabbitMQ deletes every message in it",
    isTemporary: isTransientQueue,
  },
  [virtualHostType]: {
    holds: true,
    loss: "RabbitMQ deletes every queue in it with all messages",
    isTemporary: () => false,
  },
  [exchangeType]: {
    holds: false,
    loss: "its bindings go with it, and until they are there again RabbitMQ drops what is dead-lettered to it and refuses what is published",
    isTemporary: () => false,
  },
});

/** The provider makes a queue transient unless it is told otherwise. What is not known may be either, so nothing is said. */
function isTransientQueue({ settings }: Entry): boolean {
  if (!isEntry(settings)) return true;
  const { durable, autoDelete } = settings;
  return durable !== true || autoDelete === true || isUnreadable(autoDelete);
}
