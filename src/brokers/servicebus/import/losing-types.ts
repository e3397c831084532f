import type { LosingType } from "../../broker.ts";
import type { Entry } from "../../entries.ts";

/** Source: "Delete" of namespaces, queues, topics and subscriptions in the REST reference, which takes everything below with it. */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  "azure-native:servicebus:Namespace": {
    holds: true,
    loss: "Azure deletes every queue and subscription in it with all messages",
    isTemporary: () => false,
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
    loss: "what it lets in is dropped until it is there again",
    isTemporary: () => false,
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
        : `${String(subscriptionName)} stays in the namespace, and what the rule let in no longer comes to it`;
    },
  },
});

/** What Azure answers with where nothing deletes it. */
const neverIdle = "P10675199DT2H48M5.4775807S";

function isDeletedWhenIdle({ autoDeleteOnIdle }: Entry): boolean {
  return autoDeleteOnIdle !== undefined && autoDeleteOnIdle !== null && autoDeleteOnIdle !== neverIdle;
}
