import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteMessageBatchCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describeDeadLetter } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import {
  attemptsOfCourse,
  concurrencyOfCourse,
  killInTheMiddle,
  longestMs,
  seed,
} from "../support/consume/killed-course.ts";
import { pickFreePort } from "../support/free-port.ts";
import type { Seen } from "../support/random-fates.ts";
import { consuming, type Handle } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { startElasticMq } from "../support/sqs/emulators.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

/** Under `redrive` the consumer makes no call for a failure, so the kill has fewer calls to interrupt. */
const runs = [
  { strategy: "visibility", count: 5_000 },
  { strategy: "redrive", count: 1_000 },
] as const;

/** The test may not kill an emulator from the environment, and ElasticMQ may not be installed then. */
const isInstalled = sqsEmulators().some(({ name, version }) => name === "elasticmq" && version !== "unknown");
/** Long enough that only the kill takes a message from a consumer. */
const billing = { from: { orders: "all" }, handlerTimeout: "15s" };
const strategies = {
  redrive: { ...billing, retry: { attempts: attemptsOfCourse, backoff: { kind: "constant", delay: "2s" } } },
  visibility: { ...billing, retry: { attempts: attemptsOfCourse, backoff: { kind: "linear", first: "1s" } } },
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

/** Takes dead letters out of their queue, as many as one receive returns. */
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

describe.runIf(isInstalled).concurrent("ElasticMQ with its messages on disk", () => {
  test.for(runs)(
    `its process is killed among $count messages with random outcomes under $strategy, and restarts: every message is accounted for (FATES_SEED=${seed})`,
    { timeout: longestMs + 120_000 },
    async ({ strategy, count }, { onTestFinished }) => {
      const kept = { port: await pickFreePort(), folder: await mkdtemp(join(tmpdir(), "redeliver-elasticmq-")) };
      let emulator = await startElasticMq(kept);
      onTestFinished(async () => {
        await emulator.stop();
        await rm(kept.folder, { recursive: true });
      });
      const system = await deploy(emulator, { billing: strategies[strategy] }, strategy);
      const { lab, work, dead } = system;
      onTestFinished(async () => lab.sqs.destroy());
      const { wrong, disturbed, doubled, lost } = await killInTheMiddle({
        count,
        send: async (ids) => sendAll(system, ids),
        consume: async (handler, options) => {
          const consumer = await consuming(system, "billing", handler as Handle, options);
          onTestFinished(async () => consumer.stop("1s"));
          return consumer;
        },
        kill: async (goOn) => {
          // By SIGKILL.
          await emulator.stop();
          goOn();
          emulator = await startElasticMq(kept);
        },
        takeLetters: async () => takeLetters(system),
        isEmpty: async () => (await lab.count(work("billing"))) === 0 && (await lab.count(dead("billing"))) === 0,
      });
      expect(wrong).toEqual([]);
      expect(lost).toBeGreaterThanOrEqual(1);
      // The messages in hand and those of a running receive: a receive asks for no more than there are free handlers.
      expect(disturbed).toBeLessThanOrEqual(concurrencyOfCourse);
      expect(doubled).toBeLessThanOrEqual(concurrencyOfCourse);
    },
  );
});
