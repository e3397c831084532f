import { describeDeadLetter } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import { type BrokerVersion, docker } from "../support/broker-images.ts";
import type { Consuming, Filled } from "../support/consume/fates.ts";
import {
  attempts,
  consumeFated,
  endsOf,
  fill,
  fillSharing,
  idOf,
  mostDeadLettersDoubled,
  succeeded,
} from "../support/consume/fates.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { accountFor, randomFates, seedOfThisRun } from "../support/random-fates.ts";
import { versionsWithStrategies, withQueues } from "../support/strategies.ts";

/** For each strategy. */
const messages = 5_000;
const seed = seedOfThisRun();

const concurrency = 50;
/**
 * Writes recent changes to disk: Mnesia's log, and the tables in which Ra keeps its queues. A broker killed before this
 * has lost the queue.
 */
const syncTables = ["rabbitmqctl", "eval", "catch mnesia:sync_log(), [catch dets:sync(Table) || Table <- dets:all()]."];
/** A queue may be missing while a broker starts. At-least-once dead-lettering tries again after this time. */
const deadLetterAgainMs = 20_000;
const longestMs = 480_000;

/** The test may not kill a broker from the environment, and may have no Docker then. */
const isOurs = (version: BrokerVersion): boolean =>
  brokers().some((broker) => broker.version === version && broker.containerId !== undefined);

/**
 * Accounts for each message. No more of them may be disturbed or doubled than were in hand, or on their way to another
 * queue.
 */
async function judge(consumer: Consuming, before: { readonly ended: ReadonlySet<string>; readonly runs: number }) {
  const { system, ids, fates, billing } = consumer;
  const { well, letters } = await endsOf(consumer, longestMs);
  const described = letters.map((letter) => {
    const said = describeDeadLetter(letter, system.contract(consumer.consumer));
    return { id: idOf(letter), reason: said["dlq-failure-reason"], queue: said["dlq-original-queue"] };
  });
  const { wrong, disturbed } = accountFor(
    { fates, attempts, ids },
    { runs: billing.runs, well, unanswered: [], letters: described },
  );
  const again = billing.runs.slice(before.runs).filter(({ id }) => before.ended.has(id));
  const own = new Set(ids);
  const lost = billing.events.filter(({ kind }) => kind === "lost").length;
  return {
    wrong,
    strange: billing.runs.filter(({ id, attempt }) => !own.has(id) || attempt > attempts),
    queues: [...new Set(described.map(({ queue }) => queue))],
    disturbed: disturbed.length,
    doubled: well.length + letters.length - ids.length,
    again: new Set(again.map(({ id }) => id)).size,
    mostInHand: lost * concurrency,
    mostOnTheirWay: mostDeadLettersDoubled(system),
  };
}

describe.concurrent.each(versionsWithStrategies)("on $version", ({ version, strategies }) => {
  test.runIf(isOurs(version))(
    `the broker is killed among ${messages} messages with random outcomes under each of ${strategies.join(", ")}, and among those of three consumers that share queues, and restarts: every message is accounted for (FATES_SEED=${seed})`,
    { timeout: longestMs + 120_000 },
    async ({ onTestFinished }) => {
      const { broker, exec, stop } = await startBroker(version, undefined, { deadLetterAgainMs });
      onTestFinished(stop);
      const fates = randomFates(seed);
      const alone = await Promise.all(strategies.map((each) => fill(broker, each, messages, fates)));
      const filled = [...alone, ...(await fillSharing(broker, withQueues(version), messages / 5, fates))];
      await exec(syncTables);
      const killed = Promise.withResolvers<void>();
      const course = { concurrency, longestMs: 40, happened: killed.promise };
      const consumers = await Promise.all(filled.map((each) => consumeFated(broker, each, course)));
      onTestFinished(async () => {
        await Promise.all(consumers.map(({ billing }) => billing.running.stop("1s")));
      });
      await until(longestMs, () => consumers.every(({ billing, ids }) => billing.runs.length >= ids.length / 10));
      await docker("kill", broker.containerId ?? "");
      const before = consumers.map(({ billing }) => ({
        ended: new Set(succeeded(billing)),
        runs: billing.runs.length,
      }));
      killed.resolve();
      await docker("start", broker.containerId ?? "");
      await waitUntilReady(broker.managementUrl, broker.amqpUrl);

      const judgements = await Promise.all(
        consumers.map((consumer, index) => judge(consumer, before[index] ?? { ended: new Set(), runs: 0 })),
      );
      for (const [index, judged] of judgements.entries()) {
        const { strategy: by, consumer } = filled[index] as Filled;
        const strategy = `${consumer} under ${by}`;
        expect(judged.wrong, strategy).toEqual([]);
        expect(judged.strange, strategy).toEqual([]);
        expect(judged.queues, strategy).toEqual([`shop.${consumer}`]);
        // The broker gives a consumer a new message only when it has noted the end of an old one. So at most one
        // concurrency's worth of messages was in hand or settled unnoted.
        expect(judged.again, strategy).toBeLessThanOrEqual(judged.mostInHand);
        expect(judged.disturbed, strategy).toBeLessThanOrEqual(judged.mostInHand + judged.mostOnTheirWay);
        expect(judged.doubled, strategy).toBeLessThanOrEqual(judged.mostInHand + judged.mostOnTheirWay);
      }
    },
  );
});
