import { type ConsumeEvent, type Handler, permanent } from "redeliver/consume";

import { sleep, until } from "../deployed-system.ts";
import { accountFor, permanentReason, randomFates, type Seen, seedOfThisRun, successesIn } from "../random-fates.ts";

/** How many attempts the consumer has to be declared with. */
export const attemptsOfCourse = 4;
export const concurrencyOfCourse = 50;
export const longestMs = 480_000;
export const seed = seedOfThisRun();

/** A consumer that runs by `consume`. The body of a message is its name. */
interface Consuming {
  readonly runs: readonly { readonly body: string; readonly attempt: number }[];
  readonly events: readonly ConsumeEvent[];
}

/** A broker that can be killed, with the queues of one consumer. */
interface KilledStage<Consumer extends Consuming> {
  readonly count: number;
  readonly send: (names: readonly string[]) => Promise<void>;
  readonly consume: (
    handler: Handler<string>,
    options: { readonly concurrency: number; readonly breaker: false },
  ) => Promise<Consumer>;
  /** Kills the broker, lets the waiting handlers go on, and starts it again. */
  readonly kill: (goOn: () => void, consumer: Consumer) => Promise<void>;
  /** Takes dead letters out of their queue, as many as one receive returns. */
  readonly takeLetters: () => Promise<Seen["letters"]>;
  readonly isEmpty: (consumer: Consumer) => Promise<boolean>;
}

/** Kills a broker in the middle of messages with random outcomes, waits until all have ended, and accounts for each. */
export async function killInTheMiddle<Consumer extends Consuming>(stage: KilledStage<Consumer>) {
  const ids = Array.from({ length: stage.count }, (_, index) => `m${index}`);
  const fates = randomFates(seed);
  await stage.send(ids);
  const killed = Promise.withResolvers<void>();
  const nameOf = new Map<string | null, string>();
  let begun = 0;
  const handler: Handler<string> = async ({ id, body }, { number }) => {
    nameOf.set(id, body);
    begun += 1;
    // The restart happens in the middle of the messages.
    if (begun > ids.length / 2) await killed.promise;
    await sleep(40 * Math.random());
    const outcome = fates(body, number);
    if (outcome === "transient") throw new Error("again");
    if (outcome === "permanent") throw permanent(permanentReason);
  };
  const consumer = await stage.consume(handler, { concurrency: concurrencyOfCourse, breaker: false });
  await until(longestMs, () => begun >= ids.length / 10);
  await stage.kill(killed.resolve, consumer);

  const letters: Seen["letters"][number][] = [];
  const said = (): ReturnType<typeof successesIn> =>
    successesIn(consumer.events, fates, (id) => nameOf.get(id) ?? "a stranger");
  let open: readonly string[] = [];
  await until(longestMs, async () => {
    for (let taken = await stage.takeLetters(); taken.length > 0; taken = await stage.takeLetters())
      letters.push(...taken);
    const { well, unanswered } = said();
    const ended = new Set([...well, ...unanswered, ...letters.map(({ id }) => id)]);
    open = ids.filter((id) => !ended.has(id));
    if (open.length === 0) return stage.isEmpty(consumer);
    await sleep(500);
    return false;
  }).catch((cause: unknown) => {
    const attemptsOf = (id: string): string => {
      const attempts = consumer.runs.filter(({ body }) => body === id).map(({ attempt }) => attempt);
      return `${id} (attempts ${attempts.join(", ") || "none"})`;
    };
    const inTheWay = open.length === 0 ? "a queue is not empty" : `without an end: ${open.map(attemptsOf).join("; ")}`;
    throw new Error(`not every message is accounted for; ${inTheWay}`, { cause });
  });
  const runs = consumer.runs.map(({ body, attempt }) => ({ id: body, attempt }));
  const { well, unanswered } = said();
  const { wrong, disturbed } = accountFor(
    { fates, attempts: attemptsOfCourse, ids },
    { runs, well, unanswered, letters },
  );
  return {
    wrong,
    disturbed: disturbed.length,
    doubled: well.length + letters.length - ids.length,
    lost: consumer.events.filter(({ kind }) => kind === "lost").length,
  };
}
