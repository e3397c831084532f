import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteMessageBatchCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describeDeadLetter, permanent } from "redeliver/consume";
import { describe, test } from "vitest";

import { sleep, until } from "../support/deployed-system.ts";
import { pickFreePort } from "../support/free-port.ts";
import {
  accountFor,
  permanentReason,
  randomFates,
  type Seen,
  seedOfThisRun,
  successesIn,
} from "../support/random-fates.ts";
import { type Consuming, consuming } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { startElasticMq } from "../support/sqs/emulators.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const attempts = 4;
const concurrency = 50;
/** Under `redrive` nothing is done for a failure, so that there is less in the middle of which it could happen. */
const runs = [
  { strategy: "visibility", count: 5_000 },
  { strategy: "redrive", count: 1_000 },
] as const;
const longestMs = 480_000;
const seed = seedOfThisRun();
const fates = randomFates(seed);

/** An emulator from the environment is not ours to kill, and ElasticMQ may not be installed then. */
const isInstalled = sqsEmulators().some(({ name, version }) => name === "elasticmq" && version !== "unknown");
/** Long enough that nothing but the kill takes a message out of a consumer's hands. */
const billing = { from: { orders: "all" }, handlerTimeout: "15s" };
const strategies = {
  redrive: { ...billing, retry: { attempts, backoff: { kind: "constant", delay: "2s" } } },
  visibility: { ...billing, retry: { attempts, backoff: { kind: "linear", first: "1s" } } },
} as const;

const tens = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / 10) }, (_, index) => items.slice(10 * index, 10 * index + 10));

async function sendAll({ lab, work }: DeployedSystem, ids: readonly string[]): Promise<void> {
  const batches = [...tens(ids)];
  const send = async (): Promise<void> => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      const Entries = batch.map((id) => ({ Id: id, MessageBody: id }));
      await lab.sqs.send(new SendMessageBatchCommand({ QueueUrl: work("billing").url, Entries }));
    }
  };
  await Promise.all(Array.from({ length: 5 }, send));
}

/** Takes dead letters out of their queue, as many as come at once. */
async function takeLetters(system: DeployedSystem): Promise<Seen["letters"]> {
  const dead = system.dead("billing");
  const received = await system.lab.receive(dead, { max: 10 });
  if (received.length === 0) return [];
  const Entries = received.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  await system.lab.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: dead.url, Entries }));
  return received.map((letter) => ({
    id: letter.Body ?? "",
    reason: describeDeadLetter(letter, system.contract("billing"))["dlq-failure-reason"],
  }));
}

/** Waits for each message to end, and for both queues to be empty. */
async function endsOf(
  system: DeployedSystem,
  { runs, events }: Consuming,
  { ids, nameOf }: { readonly ids: readonly string[]; readonly nameOf: ReadonlyMap<string, string> },
): Promise<Seen> {
  const { lab } = system;
  const letters: Seen["letters"][number][] = [];
  const dead = new Set<string>();
  const said = (): ReturnType<typeof successesIn> =>
    successesIn(events, fates, (messageId) => nameOf.get(messageId ?? "") ?? "a stranger");
  await until(longestMs, async () => {
    for (let taken = await takeLetters(system); taken.length > 0; taken = await takeLetters(system)) {
      letters.push(...taken);
      for (const { id } of taken) dead.add(id);
    }
    const { well, unanswered } = said();
    if (new Set([...dead, ...well, ...unanswered]).size < ids.length) {
      await sleep(500);
      return false;
    }
    return (await lab.count(system.work("billing"))) === 0 && (await lab.count(system.dead("billing"))) === 0;
  });
  return { runs: runs.map(({ body, attempt }) => ({ id: body, attempt })), ...said(), letters };
}

describe.runIf(isInstalled).concurrent("ElasticMQ with its messages on disk", () => {
  test.for(runs)(
    `its process is killed in the middle of $count messages with random outcomes under $strategy, and started again: every message is accounted for (FATES_SEED=${seed})`,
    { timeout: longestMs + 120_000 },
    async ({ strategy, count }, { expect, onTestFinished }) => {
      const ids = Array.from({ length: count }, (_, index) => `m${index}`);
      const kept = { port: await pickFreePort(), folder: await mkdtemp(join(tmpdir(), "redeliver-elasticmq-")) };
      let emulator = await startElasticMq(kept);
      onTestFinished(async () => {
        await emulator.stop();
        await rm(kept.folder, { recursive: true });
      });
      const system = await deploy(emulator, { billing: strategies[strategy] }, strategy);
      onTestFinished(async () => system.lab.sqs.destroy());
      await sendAll(system, ids);
      const killed = Promise.withResolvers<void>();
      const nameOf = new Map<string, string>();
      let begun = 0;
      const handle: Parameters<typeof consuming>[2] = async ({ id, body }, { number }) => {
        nameOf.set(id ?? "", body);
        begun += 1;
        // So that it happens in their middle.
        if (begun > ids.length / 2) await killed.promise;
        await sleep(40 * Math.random());
        const outcome = fates(body, number);
        if (outcome === "transient") throw new Error("again");
        if (outcome === "permanent") throw permanent(permanentReason);
      };
      const consumer = await consuming(system, "billing", handle, { concurrency, breaker: false });
      onTestFinished(async () => consumer.stop("1s"));
      await until(longestMs, () => begun >= ids.length / 10);
      // By SIGKILL.
      await emulator.stop();
      killed.resolve();
      emulator = await startElasticMq(kept);

      const seen = await endsOf(system, consumer, { ids, nameOf });
      const { wrong, disturbed } = accountFor({ fates, attempts, ids }, seen);
      const lost = consumer.events.filter(({ kind }) => kind === "lost").length;
      expect(wrong).toEqual([]);
      expect(lost).toBeGreaterThanOrEqual(1);
      // What was in hand, and what a receive was bringing: it asks for no more than there are handlers free.
      expect(disturbed.length).toBeLessThanOrEqual(concurrency);
      expect(seen.well.length + seen.letters.length - ids.length).toBeLessThanOrEqual(concurrency);
    },
  );
});
