import type { LosingType } from "../../../broker.ts";
import type { Entry } from "../../../../foreign/entries.ts";
import { forEver } from "../../compile/iso-duration.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";

/**
 * Source: "Delete" of namespaces, queues, topics and subscriptions in the REST reference. It deletes everything below,
 * too.
 */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  "azure-native:servicebus:Namespace": {
    holds: true,
    loss: "Azure deletes every queue and subscription in it with all messages",
    identity: ["namespaceName"],
  },
  "azure-native:servicebus:Queue": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
    identity: ["queueName", "namespaceName"],
  },
  "azure-native:servicebus:Topic": {
    holds: true,
    loss: "Azure deletes all of its subscriptions with every message in them",
    isTemporary: isDeletedWhenIdle,
    identity: ["topicName", "namespaceName"],
  },
  "azure-native:servicebus:Subscription": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
    identity: ["subscriptionName", "topicName", "namespaceName"],
  },
  "azure-native:servicebus:Rule": {
    holds: false,
    loss: "the messages it matches are dropped until it exists again",
    identity: ["ruleName", "subscriptionName", "topicName", "namespaceName"],
    strands: ({ subscriptionName, topicName }, staying) => {
      const entity = staying.find(
        ({ type, properties, isLeft }) =>
          isLeft &&
          type === "azure-native:servicebus:Subscription" &&
          properties["subscriptionName"] === subscriptionName &&
          properties["topicName"] === topicName,
      );
      return entity === undefined
        ? null
        : `${wordOf(subscriptionName)} stays in the namespace, and messages that the rule matched no longer reach it`;
    },
  },
});

function isDeletedWhenIdle({ autoDeleteOnIdle }: Entry): boolean {
  return autoDeleteOnIdle !== undefined && autoDeleteOnIdle !== null && autoDeleteOnIdle !== forEver;
}
