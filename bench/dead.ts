import amqplib from "amqplib";
import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

import { operating } from "../src/brokers/rabbitmq/operate/index.ts";
import { windowLetters } from "../src/brokers/rabbitmq/operate/move.ts";
import { describeDeadLetter } from "../src/consume/dead-letter/describe.ts";
import { type LetterFacts, factsOf } from "../src/operate/facts.ts";
import { parseFilter } from "../src/operate/filter.ts";
import { type Frozen, digestOf, readFrozen, writeFrozen } from "../src/operate/frozen.ts";
import { createGrouping } from "../src/operate/groups.ts";
import type { Letter } from "../src/operate/letter.ts";
import type { DeadLetters } from "../src/operate/port.ts";
import { redrive } from "../src/operate/redrive.ts";
import { startBroker } from "../test/support/broker-containers.ts";
import { createManagement } from "../test/support/management.ts";

// Compares the redrive of dead letters with a hand-written move and with a shovel, in turn on one RabbitMQ 4.3, and
// judges the goals. `node bench/dead.ts [letters] [rounds]`; main.ts starts it in its own process, so that its peak of
// memory is its own.

const [part = "20000", text = "3"] = process.argv.slice(2);
const queue = "dead";
const target = "work";
/** By default. */
const shovelPrefetch = 1_000;
/** The goals: a share of the hand-written move, letters a second, and memory for so many letters. */
const goals = { share: 0.8, perSecond: 20_000, peakMb: 300, letters: 1_000_000 };

async function fill(url: string, count: number): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const body = Buffer.from(JSON.stringify({ id: 1, text: "x".repeat(400) }));
  for (let index = 0; index < count; index++) {
    const headers = {
      "dlq-failure-reason": index % 2 === 0 ? "EVEN" : "ODD",
      "dlq-original-queue": target,
      tenant: "acme",
    };
    channel.sendToQueue(queue, body, { messageId: `m${index}`, persistent: true, headers });
    if (index % 2_000 === 0) await channel.waitForConfirms();
  }
  await channel.waitForConfirms();
  await connection.close();
}

const facts = (letter: Letter): LetterFacts => factsOf(letter, describeDeadLetter(operating.messageOf(letter)));

async function measureAll(letters: number, rounds: number): Promise<void> {
  const { RABBITMQ_URL: givenUrl, RABBITMQ_MANAGEMENT_URL: givenManagement } = process.env;
  const started = givenUrl === undefined ? await startBroker("4.3", undefined, { plugins: ["rabbitmq_shovel"] }) : null;
  const url = givenUrl ?? started?.broker.amqpUrl ?? "";
  const managementUrl = givenManagement ?? started?.broker.managementUrl ?? "";
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  const dead = await operating.connect({ url, managementUrl, place: null });
  const countIn = async (name: string): Promise<number> => (await channel.checkQueue(name)).messageCount;
  const filled = async (): Promise<void> => {
    for (const name of [queue, target]) {
      await channel.deleteQueue(name);
      await channel.assertQueue(name, { arguments: { "x-queue-type": "quorum", "x-delivery-limit": -1 } });
    }
    // In a process of its own, so that its memory does not count.
    await promisify(execFile)(process.execPath, [import.meta.filename, "fill", url, String(letters)]);
  };
  /** Letters a second. */
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return (letters / (performance.now() - startedAt)) * 1_000;
  };
  const isMoved = async (): Promise<void> => {
    while ((await countIn(target)) < letters) await setTimeout(20);
  };
  const pairs = [];
  for (let round = 0; round < rounds; round++) {
    await filled();
    const hand = await timed(() => moveByHand(url, letters));
    await filled();
    const shovel = await timed(async () => {
      await createManagement(managementUrl).put("parameters/shovel/%2F/bench", { value: shovelOf() });
      await isMoved();
    });
    await filled();
    const list = await timed(() => listing(dead, letters));
    const groups = await timed(() => grouping(dead, letters));
    const frozen = await frozenIn(dead);
    const own = await timed(() => redriveAll(dead, letters, frozen));
    pairs.push({ hand, shovel, own, list, groups });
  }
  const peakMb = process.resourceUsage().maxRSS / 1_024;
  await dead.close();
  await connection.close();
  await started?.stop();
  report(letters, pairs, peakMb);
}

type Figure = Readonly<Record<"hand" | "shovel" | "own" | "list" | "groups", number>>;

function report(letters: number, pairs: readonly Figure[], peakMb: number): void {
  const median = (of: (pair: Figure) => number): number =>
    pairs.map(of).toSorted((a, b) => a - b)[Math.floor(pairs.length / 2)] ?? 0;
  const judged = (isGood: boolean): string => (isGood ? "pass" : "FAIL");
  const [list, groups] = [median((pair) => pair.list), median((pair) => pair.groups)];
  const [byHand, byShovel] = [median(({ own, hand }) => own / hand), median(({ own, shovel }) => own / shovel)];
  console.log(`dead letters, RabbitMQ 4.3, ${letters} letters, median of ${pairs.length} rounds`);
  for (const [name, perSecond] of Object.entries({ list, groups }))
    console.log(
      `  ${name}: ${perSecond.toFixed(0)} a second; at least ${goals.perSecond}: ${judged(perSecond >= goals.perSecond)}`,
    );
  console.log(
    `  sent again: ${median(({ own }) => own).toFixed(0)} a second, ${byHand.toFixed(2)} times a hand-written move with as many in flight; at least ${goals.share}: ${judged(byHand >= goals.share)}; ${byShovel.toFixed(2)} times a shovel with 1,000`,
  );
  const memory = letters < goals.letters ? `judged with ${goals.letters} letters` : judged(peakMb < goals.peakMb);
  console.log(`  resident memory at the peak: ${peakMb.toFixed(0)} MB; less than ${goals.peakMb}: ${memory}`);
}

/** Lists the letters of a reason that none has, so it judges all. */
async function listing(dead: DeadLetters, letters: number): Promise<void> {
  const filter = parseFilter({ reason: "NONE" }, Date.now());
  if ("problem" in filter) throw new Error(filter.problem);
  const { seen } = await dead.look(queue, (letter) => !filter.matches(letter, facts(letter)));
  if (seen !== letters) throw new Error(`${seen} of ${letters} letters were seen`);
}

/** Groups all letters. */
async function grouping(dead: DeadLetters, letters: number): Promise<void> {
  const groups = createGrouping();
  const { seen } = await dead.look(queue, (letter) => {
    groups.add(facts(letter));
    return true;
  });
  if (seen !== letters) throw new Error(`${seen} of ${letters} letters were seen`);
}

/** The letters of the plan. The plan is made before the redrive, and not measured with it. */
async function frozenIn(dead: DeadLetters): Promise<Frozen> {
  const digests: bigint[] = [];
  await dead.look(queue, (letter) => {
    digests.push(digestOf(operating.identityOf(letter)));
    return true;
  });
  return readFrozen(writeFrozen(digests));
}

async function redriveAll(dead: DeadLetters, letters: number, frozen: Frozen): Promise<void> {
  const { sent, stopped } = await redrive(dead, {
    id: "bench",
    queue,
    deadQueue: queue,
    frozen,
    letters,
    before: { sent: 0, diedAgain: 0, mayBeDoubled: 0 },
    unrecorded: 0,
    perSecond: null,
    waitMs: 0,
    stopAbove: 1,
    rules: {
      filter: { matches: () => true, isAll: true, missed: () => null },
      generations: 3,
      targets: null,
      workQueue: null,
      others: null,
      unsendable: operating.unsendable,
    },
    factsOf: facts,
    identityOf: operating.identityOf,
    pause: (delayMs) => setTimeout(delayMs),
    wish: () => null,
    intend: async () => null,
    told: async () => ({ told: 0, dead: 0 }),
    report: () => undefined,
  });
  if (sent !== letters) throw new Error(`${sent} of ${letters} letters were sent: ${stopped}`);
}

/** As people write it: a copy with a confirm, and then the acknowledgement. */
async function moveByHand(url: string, letters: number): Promise<void> {
  const connection = await amqplib.connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const publisher = await connection.createConfirmChannel();
  // With as many letters in flight as a redrive has: so many may be doubled.
  await channel.prefetch(windowLetters);
  const over = Promise.withResolvers<void>();
  let left = letters;
  await channel.consume(queue, (message) => {
    if (message === null) return;
    const { properties, content } = message;
    publisher.publish("", target, content, { ...properties, mandatory: true }, (error: unknown) => {
      if (error !== null) return over.reject(error as Error);
      channel.ack(message);
      left -= 1;
      if (left === 0) over.resolve();
    });
  });
  await over.promise;
  await channel.close();
  await connection.close();
}

function shovelOf(): object {
  return {
    "src-protocol": "amqp091",
    "src-uri": "amqp://",
    "src-queue": queue,
    "dest-protocol": "amqp091",
    "dest-uri": "amqp://",
    "dest-queue": target,
    "src-delete-after": "queue-length",
    "ack-mode": "on-confirm",
    "src-prefetch-count": shovelPrefetch,
  };
}

if (part === "fill") await fill(process.argv[3] ?? "", Number(process.argv[4]));
else await measureAll(Number(part), Number(text));
