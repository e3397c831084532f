import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, ChannelModel, ConfirmChannel } from "amqplib";
import amqplib from "amqplib";

import type { MessageState, Semantics, SemanticsVersion } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { Broker } from "../support/live.ts";
import { createManagement, credentialsOf, type Management } from "../support/management.ts";
import { expectedSight, sightOf } from "./compare.ts";
import { answer, compareHeld, declare, getWithin, patienceMs, policyPath, statisticsMs } from "./live-operations.ts";
import { actionable, circumstancesOf, only, predict, type Prediction, queueOf, settle } from "./predict.ts";
import { type Action, type DifferentialCase, instantiate } from "./topologies.ts";

/**
 * The result of one case. `isIncomparable`: the run stopped where a message loops for ever or chance decides
 * (`predict.ts`).
 */
export interface CaseResult {
  readonly name: string;
  readonly steps: number;
  readonly isIncomparable: boolean;
  readonly differences: readonly string[];
}

/** A case that has ended on the broker, and the messages that its queues must still hold internally. */
interface Finished extends CaseResult {
  readonly queues: readonly string[];
  readonly exchanges: readonly string[];
  readonly policies: readonly string[];
  readonly retained: ReadonlyMap<string, number>;
}

/** One virtual host of one broker, for running cases. */
export interface Runner {
  readonly run: (
    cases: readonly { readonly name: string; readonly differentialCase: DifferentialCase }[],
  ) => Promise<readonly CaseResult[]>;
  readonly dispose: () => Promise<void>;
}

/** The limit of cases that act at a time, and the limit of cases with queues: an older broker has few file handles. */
const parallel = 10;
const mostOpen = 60;

export async function createRunner(broker: Broker, version: SemanticsVersion): Promise<Runner> {
  const management = createManagement(broker.managementUrl);
  const vhost = `differential-${process.pid}-${Date.now().toString(36)}`;
  await management.putVhost(vhost);
  await management.putPermissions(vhost, credentialsOf(broker.amqpUrl).user);
  const connection = await amqplib.connect(`${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${vhost}`);
  connection.on("error", () => {});
  let count = 0;
  return {
    run: async (cases) => {
      const checks: Promise<CaseResult>[] = [];
      const waiting = [...cases];
      let open = 0;
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          while (open >= mostOpen) await sleep(20);
          open += 1;
          count += 1;
          const placed = instantiate(next.differentialCase, `c${count}-`);
          const finished = await runCase({ management, vhost, connection, version }, next.name, placed);
          checks.push(
            checkRetained(management, vhost, connection, finished).finally(() => {
              open -= 1;
            }),
          );
        }
      };
      await Promise.all(Array.from({ length: parallel }, work));
      return Promise.all(checks);
    },
    dispose: async () => {
      await connection.close();
      await management.deleteVhost(vhost);
    },
  };
}

interface Place {
  readonly management: Management;
  readonly vhost: string;
  readonly connection: ChannelModel;
  readonly version: SemanticsVersion;
}

async function runCase(
  place: Place,
  name: string,
  { topology, publication, actions }: DifferentialCase,
): Promise<Finished> {
  const semantics = semanticsOf(topology, place.version);
  const queues = topology.queues.map((queue) => queue.name);
  const channel = await place.connection.createConfirmChannel();
  channel.on("error", () => {});
  const differences: string[] = [];
  const finish = (copies: readonly MessageState[], steps: number, isIncomparable: boolean): Finished => {
    const retained = new Map<string, number>();
    for (const copy of copies) {
      const queue = queueOf(copy);
      if (queue !== null && copy.place.kind === "queue" && copy.place.status === "retained")
        retained.set(queue, (retained.get(queue) ?? 0) + 1);
    }
    const exchanges = topology.exchanges.map((exchange) => exchange.name);
    return {
      name,
      steps,
      isIncomparable,
      differences,
      queues,
      exchanges,
      policies: topology.policies.map((policy) => policyPath(place.vhost, policy)),
      retained,
    };
  };
  try {
    const start = settle(semantics, only(semantics.publish(publication, circumstancesOf(semantics))));
    if (start === null) return finish([], 0, true);
    await declare(place.management, place.vhost, channel, topology);
    await publishAndCompare(channel, publication, start.copies, differences);
    const course = await follow({ place, semantics, channel, queues, differences }, start, actions);
    if (differences.length === 0) differences.push(...(await compareContents(place, semantics, queues, course.copies)));
    return finish(course.copies, course.steps, course.isIncomparable);
  } catch (error) {
    differences.push(`the broker refused: ${(error as Error).message}`);
    return finish([], 0, false);
  } finally {
    await channel.close().catch(() => {});
  }
}

interface Course {
  readonly copies: readonly MessageState[];
  readonly steps: number;
  readonly isIncomparable: boolean;
}

interface Run {
  readonly place: Place;
  readonly semantics: Semantics;
  readonly channel: Channel;
  readonly queues: readonly string[];
  readonly differences: string[];
}

/** Takes one action after the other. After each it waits until the broker matches the semantics. */
async function follow(run: Run, start: Prediction, actions: readonly Action[]): Promise<Course> {
  let { copies, waitMs } = start;
  let steps = 0;
  for (;;) {
    // A message that is about to move may look like one that has moved.
    await sleep(waitMs);
    if (!(await countsArrive(run, copies))) return { copies, steps, isIncomparable: false };
    const action = actions[steps];
    const candidates = actionable(copies);
    const copy = action === undefined ? undefined : candidates[action.pick % candidates.length];
    if (action === undefined || copy === undefined) return { copies, steps, isIncomparable: false };
    const next = predict(run.semantics, copies, copy, action);
    if (next === null) return { copies, steps, isIncomparable: true };
    await act(run, copy, action);
    if (run.differences.length > 0) return { copies, steps, isIncomparable: false };
    steps += 1;
    ({ copies, waitMs } = next);
  }
}

async function publishAndCompare(
  channel: ConfirmChannel,
  publication: DifferentialCase["publication"],
  predicted: readonly MessageState[],
  differences: string[],
): Promise<void> {
  const { exchange, routingKey, headers, expirationMs } = publication;
  const isTaken = await new Promise<boolean>((resolve) => {
    const options = { persistent: true, headers, ...(expirationMs ? { expiration: String(expirationMs) } : {}) };
    channel.publish(exchange, routingKey, Buffer.from("message"), options, (error) => resolve(error === null));
  });
  const isExpected = !predicted.some(({ place }) => place.kind === "refused");
  if (isTaken !== isExpected) differences.push(`the publication was ${isTaken ? "confirmed" : "refused"}`);
}

async function act(run: Run, copy: MessageState, action: Action): Promise<void> {
  const { connection } = run.place;
  // Each message has its own channel. Closing it has the same effect as a crash of the consumer.
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  const queue = queueOf(copy) as string;
  const message = await getWithin(channel, queue);
  if (message === null) {
    run.differences.push(`nothing to get from ${queue}`);
    return;
  }
  const [expected, seen] = [expectedSight(run.semantics, copy), sightOf(queue, message)];
  if (expected !== seen) run.differences.push(`got from ${queue}:\n  expected ${expected}\n  got      ${seen}`);
  await answer(channel, message, action);
}

/** Waits until every queue has the predicted number of ready messages, twice in a row. */
async function countsArrive(run: Run, copies: readonly MessageState[]): Promise<boolean> {
  const expected = run.queues.map(
    (queue) =>
      copies.filter(({ place }) => place.kind === "queue" && place.queue === queue && place.status === "ready").length,
  );
  const deadline = Date.now() + patienceMs;
  for (let hits = 0; ;) {
    const counts = await Promise.all(
      run.queues.map(async (queue) => (await run.channel.checkQueue(queue)).messageCount),
    );
    hits = counts.every((count, index) => count === expected[index]) ? hits + 1 : 0;
    if (hits === 2) return true;
    if (Date.now() > deadline) {
      run.differences.push(
        `messages ready in ${run.queues.join(", ")}: expected ${expected.join(", ")}, got ${counts.join(", ")} for ${JSON.stringify(copies.map(({ place }) => place))}`,
      );
      return false;
    }
    await sleep(15);
  }
}

/** Takes all messages out of the queues and compares them with the predicted copies. */
async function compareContents(
  place: Place,
  semantics: Semantics,
  queues: readonly string[],
  copies: readonly MessageState[],
): Promise<string[]> {
  // For a moment, a lost message and one on its way look alike.
  await sleep(120);
  const channel = await place.connection.createChannel();
  const seen: string[] = [];
  for (const queue of queues) {
    for (
      let message = await channel.get(queue, { noAck: true });
      message !== false;
      message = await channel.get(queue, { noAck: true })
    ) {
      seen.push(sightOf(queue, message));
      if (seen.length > 20) break;
    }
  }
  await channel.close();
  const ready = copies.filter(({ place: where }) => where.kind === "queue" && where.status === "ready");
  const expected = ready.map((copy) => expectedSight(semantics, copy)).toSorted();
  if (JSON.stringify(expected) === JSON.stringify(seen.toSorted())) return [];
  return [
    `at the end:\n  expected ${expected.join("\n           ")}\n  got      ${seen.toSorted().join("\n           ")}`,
  ];
}

/** When all messages are out, a queue still holds those that its at-least-once dead-lettering could not pass on. */
async function checkRetained(
  management: Management,
  vhost: string,
  connection: ChannelModel,
  { name, steps, isIncomparable, differences, queues, exchanges, policies, retained }: Finished,
): Promise<CaseResult> {
  const more: string[] = [];
  if (differences.length === 0 && !isIncomparable) {
    await sleep(statisticsMs);
    for (const queue of queues) more.push(...(await compareHeld(management, vhost, queue, retained.get(queue) ?? 0)));
  }
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  try {
    for (const queue of queues) await channel.deleteQueue(queue);
    for (const exchange of exchanges) await channel.deleteExchange(exchange);
    await channel.close();
  } catch {
    // The broker refused to make this, so there is nothing to delete. The virtual host goes with all the rest.
  }
  await Promise.all(policies.map(async (path) => management.delete(path).catch(() => {})));
  return { name, steps, isIncomparable, differences: [...differences, ...more] };
}
