import { createClient, createReceiver, waitUntil } from "@redeliver/servicebus-emulator";
import { describeDeadLetter } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import {
  attemptsOfCourse,
  concurrencyOfCourse,
  killInTheMiddle,
  longestMs,
  seed,
} from "../support/consume/killed-course.ts";
import { deployConsumed, type Handle } from "../support/servicebus/consuming.ts";

const count = 5_000;
const strategies = {
  scheduled: { retry: { attempts: attemptsOfCourse, backoff: { kind: "constant", delay: "200ms" } } },
  immediate: { retry: { attempts: attemptsOfCourse, backoff: { kind: "immediate" } } },
} as const;

// The emulator runs in this process, so the test cannot kill it alone. It shows a client all that a restart shows.
// Connections end without a word, no client can connect for a while, and then messages, locks and counts are back.
describe.concurrent("a namespace that restarts", () => {
  test.for(["scheduled", "immediate"] as const)(
    `all connections end, and none can be opened for a while, among ${count} messages with random outcomes under %s: every message is accounted for (FATES_SEED=${seed})`,
    { timeout: longestMs + 120_000 },
    async (strategy, { onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, strategies[strategy], { strategy });
      const { emulator } = system.lab;
      const contract = system.contract("billing");
      const client = createClient(emulator);
      onTestFinished(async () => client.close());
      const receiver = createReceiver(client, contract.deadQueue, { receiveMode: "receiveAndDelete" });
      const { wrong, disturbed, doubled, lost } = await killInTheMiddle({
        count,
        send: async (ids) => {
          for (let sent = 0; sent < ids.length; sent += 500)
            await system.publish(
              ...ids.slice(sent, sent + 500).map((id) => ({ body: Buffer.from(id), messageId: id })),
            );
        },
        consume: async (handler, options) => system.consuming(handler as Handle, options),
        kill: async (goOn, { events }) => {
          await emulator.goOffline();
          goOn();
          await waitUntil(() => events.some(({ kind }) => kind === "reconnect-failed"), longestMs);
          await emulator.goOnline();
        },
        takeLetters: async () =>
          (await receiver.receiveMessages(1_000, { maxWaitTimeInMs: 1_000 })).map((letter) => ({
            id: String(letter.body),
            reason: describeDeadLetter(letter, contract)["dlq-failure-reason"],
          })),
        isEmpty: async ({ health }) => health().handling === 0 && (await system.lab.peek("shop.billing")).length === 0,
      });
      expect(wrong).toEqual([]);
      expect(lost).toBeGreaterThanOrEqual(1);
      expect(disturbed).toBeLessThanOrEqual(lost * concurrencyOfCourse);
      expect(doubled).toBeLessThanOrEqual(lost * concurrencyOfCourse);
    },
  );
});
