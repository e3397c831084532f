import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { deployConsumed } from "../support/servicebus/consuming.ts";

const backoff = { kind: "constant", delay: "300ms" } as const;

describe.concurrent("ids of retried messages on Service Bus", () => {
  test("with the longest ids, all attempts run under the publisher's id, and no two copies collide", async (context) => {
    const system = await deployConsumed(
      context.onTestFinished,
      { retry: { attempts: 3, backoff } },
      { duplicates: "10m" },
    );
    const consumer = await system.consuming(() => {
      throw new Error("no");
    });
    const ids = ["a", "b"].map((end) => "x".repeat(127) + end);
    await system.publish(...ids.map((messageId) => ({ body: Buffer.from(messageId.slice(-1)), messageId })));
    await waitUntil(async () => (await system.letters("billing")).length === 2);
    for (const id of ids) {
      const runs = consumer.runsOf(id.slice(-1));
      expect(runs.map((run) => [run.attempt, run.id])).toEqual([
        [1, id],
        [2, id],
        [3, id],
      ]);
    }
    const letters = await system.letters("billing");
    expect(letters.map(({ deadLetterReason }) => deadLetterReason)).toEqual([
      "ATTEMPTS_EXHAUSTED",
      "ATTEMPTS_EXHAUSTED",
    ]);
    expect(
      letters.map(({ applicationProperties }) => applicationProperties?.["dlq-original-message-id"]).toSorted(),
    ).toEqual(ids);
    expect(await system.peek("shop.billing")).toEqual([]);
  });
});
