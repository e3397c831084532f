import { randomUUID } from "node:crypto";

import { refused } from "../diagnostics/render.ts";
import type { FilterInput } from "../operate/filter.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import type { JournalledPlace, RedriveFacts } from "../operate/journal.ts";
import { type RedrivePlan, type Speed, agreedLetters, planRedrive } from "../operate/plan.ts";
import type { Fate } from "../operate/redrive.ts";
import { type Forecast, forecastRedrive } from "../simulate/forecast-redrive.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { type Desk, withLocks } from "./locks.ts";
import { checkGroup, filterOf } from "./look.ts";
import { type RedriveEnd, run } from "./run.ts";
import { type Park, checkOpen, parkOf } from "./take.ts";
import { UsageError } from "./usage-error.ts";

/** The choice of letters for a redrive, and its speed. */
export interface RedriveWish {
  /** The letters to send. All of them without it. */
  readonly filter?: FilterInput;
  /** The most letters a second. No limit by default. */
  readonly perSecond?: number | null;
  /** The wait after each step, before the look for letters that died again. 0 for one step without. 30 s by default. */
  readonly waitMs?: number;
  /** Letters that were sent again so often are parked, or stay. The default is that of the declaration, or 3. */
  readonly generations?: number;
}

export interface PlannedRedrive extends RedrivePlan {
  /** The letters that were sent too often and are parked. Null if there are none, or no queue for them. */
  readonly park: Park | null;
  /** The longest time until a letter that fails every attempt is dead again. Null if no declaration says it. */
  readonly horizonMs: number | null;
  /** What follows if all letters fail again; half a sentence if it cannot be said. */
  readonly forecast: Forecast | string;
}

/**
 * Shows what a redrive would do. It moves nothing.
 *
 * @throws RefusedError if the queue is no dead queue
 * @throws UsageError if the filter is none, or if nothing can be sent to the consumer
 */
export async function planLetters(dead: DeadQueue, wish: RedriveWish): Promise<PlannedRedrive> {
  const { plan } = await planned(dead, wish);
  const { contract, subject } = dead;
  const horizonMs = contract?.attempts.reduce((sum, each) => sum + (each.delayLatestMs ?? each.delayMs), 0) ?? null;
  const forecast =
    subject === undefined
      ? "no declaration was given (FILE, --target and --consumer in place of --queue), and deaths are looked for in this queue alone"
      : forecastRedrive(subject, plan, speedOf(wish));
  return { ...plan, park: parkOf(dead, plan), horizonMs, forecast };
}

export interface RedriveOrder extends RedriveWish {
  /** The number of letters to send and to park, as the plan says it. */
  readonly confirm: number;
  /** The reason, for the journal. */
  readonly why?: string | undefined;
  /** The redrive stops if more than this share of the sent letters have died again, from 0 to 1. 0.1 by default. */
  readonly stopAbove?: number;
  /** The words with which the command line finds the queue again. */
  readonly place?: JournalledPlace;
}

/**
 * Sends letters to the work queues that they died in, in steps of 1, 10, 100, …, each in the journal.
 *
 * @returns the end. Letters that were not sent are still in the dead queue
 * @throws RefusedError if `confirm` is not the plan's number, or if somebody else moves letters. Nothing has moved then
 * @throws UsageError as `planLetters` does
 */
export async function redriveLetters(desk: Desk, order: RedriveOrder): Promise<RedriveEnd> {
  const { dead, journal } = desk;
  const { queue, broker, operating } = dead;
  // The locks come first, so that the redrive finds the queue as the plan did.
  return withLocks(desk, async (held) => {
    const digests: Partial<Record<Fate, bigint[]>> = {};
    const { plan, rules } = await planned(dead, order, (letter, fate) => {
      if (fate === "sent" || fate === "sent too often")
        (digests[fate] ??= []).push(digestOf(operating.identityOf(letter)));
    });
    const park = parkOf(dead, plan);
    const agreed = agreedLetters(plan, park?.letters ?? 0, order.confirm);
    if ("problem" in agreed) throw refused([agreed.problem]);
    if (park !== null) await checkOpen(dead, park.queue);
    const { stopAbove = 0.1, why = null, place = { strategy: "auto" } } = order;
    const facts: RedriveFacts = {
      ...speedOf(order),
      ...held,
      id: randomUUID().slice(0, 8),
      broker,
      queue,
      why,
      frozen: plan.frozen,
      ...agreed,
      generations: rules.generations,
      stopAbove,
      targets: [...(rules.targets ?? [])],
      place,
      filter: order.filter ?? {},
    };
    const frozen = writeFrozen(digests.sent ?? []);
    const parked = writeFrozen(park === null ? [] : (digests["sent too often"] ?? []));
    await journal.begin(facts, frozen, parked);
    return run(desk, {
      facts,
      plan,
      rules,
      who: held.who,
      before: { sent: 0, diedAgain: 0, mayBeDoubled: 0 },
      frozen: readFrozen(frozen, agreed.behind),
      unrecorded: 0,
      park: park === null ? null : { ...park, frozen: readFrozen(parked) },
    });
  });
}

/** Who names the parked letters wants them sent. The journal keeps no infinite number. */
const noMost = Number.MAX_SAFE_INTEGER;

/** @throws RefusedError if the queue is no dead queue */
async function planned(dead: DeadQueue, wish: RedriveWish, judged?: Parameters<typeof planRedrive>[5]) {
  const filter = filterOf(wish.filter ?? {});
  const generations = wish.generations ?? (isParked(dead) ? noMost : (dead.generations ?? 3));
  const asked = { ...sendingRules(dead), filter, generations };
  const made = await planRedrive(dead.letters, dead.queue, asked, dead.factsOf, speedOf(wish), judged);
  if ("problem" in made) throw refused([made.problem]);
  checkNamed(dead, made.named);
  if (made.isWhole) checkGroup(filter);
  return made;
}

/**
 * The queues that letters may be sent to.
 *
 * @throws UsageError if nothing can be sent to the consumer
 */
export function sendingRules({ contract, workQueue, others, operating }: DeadQueue) {
  const unreachable = contract === undefined ? null : operating.unreachable(contract);
  if (unreachable !== null) throw new UsageError(unreachable);
  const targets = contract === undefined || workQueue === null ? null : new Set([workQueue]);
  return { workQueue, others, targets, unsendable: operating.unsendable };
}

/**
 * Nothing shows that the letters of two earlier queues are those of one consumer.
 *
 * @throws UsageError if letters that would go to one consumer name several earlier queues
 */
export function checkNamed(
  { queue, others, consumer, contract, workQueue }: DeadQueue,
  named: ReadonlySet<string | null>,
): void {
  // Its own queues have letters of its present work queue, too.
  const present = [contract?.deadQueue, contract?.parkedQueue].includes(queue) ? workQueue : null;
  const earlier = [...named].filter((each) => each !== null && each !== present);
  if (others === null || earlier.length < 2) return;
  const found = earlier.join(", ");
  throw new UsageError(
    `${queue} has letters that name ${found}, and all would go to ${consumer}: choose those of one queue with --failed-in`,
  );
}

const isParked = ({ contract, queue }: DeadQueue): boolean => contract?.parkedQueue === queue;

const speedOf = ({ perSecond = null, waitMs = 30_000 }: RedriveWish): Speed => ({ perSecond, waitMs });
