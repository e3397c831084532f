import { describe, expect, test } from "vitest";

import { brokenPromises, mutatedSenders, ownSender } from "../support/dead-promises.ts";
import { stage } from "../support/dead-stage.ts";
import { brokers } from "../support/live.ts";

describe.for(brokers())("a redrive on RabbitMQ $version", (broker) => {
  test("keeps its promises where queues are gone, full and shared", async () => {
    expect(await brokenPromises(await stage(broker), ownSender)).toEqual({});
  });

  test.for(mutatedSenders)("breaks them if $name", async ({ sender, breaks }) => {
    expect(await brokenPromises(await stage(broker), sender)).toEqual(breaks);
  });
});
