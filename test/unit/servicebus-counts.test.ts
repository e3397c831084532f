import type { ServiceBusAdministrationClient } from "@azure/service-bus";
import { expect, test } from "vitest";

import { countMessages } from "../../src/brokers/servicebus/run/count-messages.ts";

// No emulator holds a message in transfer, or in an entity that forwards.

const none = { activeMessageCount: 0, transferMessageCount: 0, deadLetterMessageCount: 0 };
const work = { name: "shop.billing", scheduledMessageCount: 0, ...none };
const subscription = { subscriptionName: "billing", topicName: "shop.orders", ...none };

test.each([
  ["active", { activeMessageCount: 3 }, {}, { active: 3 }],
  ["scheduled", { scheduledMessageCount: 3 }, {}, { scheduled: 3 }],
  ["in transfer", { transferMessageCount: 3 }, {}, { "in transfer": 3 }],
  ["dead letters, which stay", { deadLetterMessageCount: 3 }, {}, {}],
  ["active in the subscription", {}, { activeMessageCount: 3 }, { "not yet forwarded": 3 }],
  ["in transfer in the subscription", {}, { transferMessageCount: 3 }, { "not yet forwarded": 3 }],
  ["dead letters of the subscription, which stay there", {}, { deadLetterMessageCount: 3 }, {}],
])("messages that are %s", async (_, inQueue, inSubscription, expected) => {
  const lists = {
    listQueues: async function* () {
      yield { name: "shop.billing" };
    },
    listQueuesRuntimeProperties: async function* () {
      yield { ...work, ...inQueue };
    },
    listTopics: async function* () {
      yield { name: "shop.orders" };
    },
    listSubscriptions: async function* () {
      yield { ...subscription, forwardTo: "sb://shop.servicebus.windows.net/shop.billing" };
    },
    listSubscriptionsRuntimeProperties: async function* () {
      yield { ...subscription, ...inSubscription };
    },
  };
  const administration = lists as unknown as ServiceBusAdministrationClient;
  const counted = await countMessages(administration, AbortSignal.timeout(1_000));
  expect(counted.map(({ name }) => name)).toEqual(["shop.billing", "shop.orders/billing"]);
  const zero = { active: 0, scheduled: 0, "in transfer": 0, "not yet forwarded": 0 };
  expect(counted[0]?.messages).toEqual({ ...zero, ...expected });
});
