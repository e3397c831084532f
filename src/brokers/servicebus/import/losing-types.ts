import type { LosingType } from "../../broker.ts";
import type { Entry } from "../../entries.ts";

/** Source: "Delete" of namespaces, queues, topics and subscriptions in the REST reference, which takes everything below with it. */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  "azure-native:servicebus:Namespace": {
    holds: true,
    loss: "Azure deletes every queue and subscription in it with all messages",
    isTemporary: () => false,
  },
  "azure-native:servicebus:Queue": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
  },
  "azure-native:servicebus:Topic": {
    holds: true,
    loss: "Azure deletes all of its subscriptions with every message in them",
    isTemporary: isDeletedWhenIdle,
  },
  "azure-native:servicebus:Subscription": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
  },
});

/** What Azure answers with where nothing deletes it. */
const neverIdle = "P10675199DT2H48M5.4775807S";

function isDeletedWhenIdle({ autoDeleteOnIdle }: Entry): boolean {
  return autoDeleteOnIdle !== undefined && autoDeleteOnIdle !== null && autoDeleteOnIdle !== neverIdle;
}
