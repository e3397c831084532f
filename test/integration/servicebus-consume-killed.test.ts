import { describeDeadLetter, permanent } from "redeliver/consume";
import { describe, test } from "vitest";

import { sleep } from "../support/deployed-system.ts";
import {
  accountFor,
  permanentReason,
  randomFates,
  type Seen,
  seedOfThisRun,
  successesIn,
} from "../support/random-fates.ts";
import { createClient } from "../support/servicebus/clients.ts";
import { type ConsumedSystem, type Consuming, deployConsumed } from "../support/servicebus/consuming.ts";
import { createReceiver } from "../support/servicebus/entity.ts";
import { waitUntil } from "../support/servicebus/wait.ts";

const attempts = 4;
const concurrency = 50;
const messages = 5_000;
const longestMs = 480_000;
const seed = seedOfThisRun();
const fates = randomFates(seed);
const ids = Array.from({ length: messages }, (_, index) => `m${index}`);

const strategies = {
  scheduled: { retry: { attempts, backoff: { kind: "constant", delay: "200ms" } } },
  immediate: { retry: { attempts, backoff: { kind: "immediate" } } },
} as const;

async function publishAll({ publish }: ConsumedSystem): Promise<void> {
  for (let sent = 0; sent < ids.length; sent += 500)
    await publish(...ids.slice(sent, sent + 500).map((id) => ({ body: Buffer.from(id), messageId: id })));
}

/** Waits for each message to end, and for the queue to be empty. */
async function endsOf(system: ConsumedSystem, { runs, events, health }: Consuming): Promise<Seen> {
  const contract = system.contract("billing");
  const client = createClient(system.lab.emulator);
  const receiver = createReceiver(client, contract.deadQueue, { receiveMode: "receiveAndDelete" });
  const said = (): ReturnType<typeof successesIn> =>
    successesIn(events, fates, (messageId) => messageId ?? "a stranger");
  const letters: Seen["letters"][number][] = [];
  await waitUntil(async () => {
    for (const letter of await receiver.receiveMessages(1_000, { maxWaitTimeInMs: 1_000 }))
      letters.push({ id: String(letter.body), reason: describeDeadLetter(letter, contract)["dlq-failure-reason"] });
    const { well, unanswered } = said();
    const ended = new Set([...well, ...unanswered, ...letters.map(({ id }) => id)]);
    if (health().handling > 0 || ended.size < ids.length) return false;
    return (await system.lab.peek("shop.billing")).length === 0;
  }, longestMs);
  await client.close();
  return { runs: runs.map(({ body, attempt }) => ({ id: body, attempt })), ...said(), letters };
}

// The emulator runs in this process, so that it cannot be killed alone. What a client sees of a namespace that is restarted is all there: its connections
// end without a word, nobody can connect for a while, and then it is there again with its messages, its locks and its counts.
describe.concurrent("a namespace that is restarted", () => {
  test.for(["scheduled", "immediate"] as const)(
    `all connections end, and none can be made for a while, in the middle of ${messages} messages with random outcomes under %s: every message is accounted for (FATES_SEED=${seed})`,
    { timeout: longestMs + 120_000 },
    async (strategy, { expect, onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, strategies[strategy], { strategy });
      const { emulator } = system.lab;
      await publishAll(system);
      const restarted = Promise.withResolvers<void>();
      let begun = 0;
      const consumer = await system.consuming(
        async ({ body }, { number }) => {
          begun += 1;
          // So that it happens in their middle.
          if (begun > messages / 2) await restarted.promise;
          await sleep(40 * Math.random());
          const outcome = fates(body, number);
          if (outcome === "transient") throw new Error("again");
          if (outcome === "permanent") throw permanent(permanentReason);
        },
        { concurrency, breaker: false },
      );
      await waitUntil(() => begun >= messages / 10, longestMs);
      await emulator.goOffline();
      restarted.resolve();
      await waitUntil(() => consumer.events.some(({ kind }) => kind === "reconnect-failed"), longestMs);
      await emulator.goOnline();

      const seen = await endsOf(system, consumer);
      const { wrong, disturbed } = accountFor({ fates, attempts, ids }, seen);
      const lost = consumer.events.filter(({ kind }) => kind === "lost").length;
      expect(wrong).toEqual([]);
      expect(lost).toBeGreaterThanOrEqual(1);
      expect(disturbed.length).toBeLessThanOrEqual(lost * concurrency);
      expect(seen.well.length + seen.letters.length - ids.length).toBeLessThanOrEqual(lost * concurrency);
    },
  );
});
