import { randomUUID } from "node:crypto";

import { refused } from "../diagnostics/render.ts";
import type { FilterInput } from "../operate/filter.ts";
import { forecastRedrive } from "../simulate/forecast-redrive.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import type { JournalledPlace } from "../operate/journal.ts";
import type { Letter } from "../operate/letter.ts";
import { type Speed, confirmProblem, planRedrive } from "../operate/plan.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { person, takeLock, withJournal } from "./dead-journal.ts";
import type { FilterOptions, PlaceOptions } from "./dead-options.ts";
import { type Place, UsageError, atPlace, filterOf } from "./dead-place.ts";
import { run } from "./dead-run.ts";
import { print } from "./output.ts";

export interface RedriveOptions extends FilterOptions, JournalOptions {
  readonly rate?: number;
  readonly generations: number;
  readonly wait: number;
  readonly stopAbove: number;
  readonly confirm?: number;
  readonly why?: string;
}

/** Plans a redrive, and does it if the count of its letters is confirmed. */
export async function redriveCommand(file: string | undefined, options: RedriveOptions): Promise<number> {
  return atPlace(file, options, async (place) => {
    if (options.confirm !== undefined) return begin(place, file, options, options.confirm);
    const { plan } = await planned(place, options);
    const { contract, subject } = place;
    const speed = speedOf(options);
    const { renderPlan } = await import("../report/dead-redrive.ts");
    const horizonMs = contract?.attempts.reduce((sum, each) => sum + (each.delayLatestMs ?? each.delayMs), 0) ?? null;
    const forecast = subject === undefined ? "no declaration names the queue" : forecastRedrive(subject, plan, speed);
    return print(
      options.json === true ? { ...plan, horizonMs, forecast } : renderPlan(plan, speed, horizonMs, forecast),
    );
  });
}

/** Agrees to a plan and begins. The locks come first, so that the redrive finds the queue as the plan did. */
async function begin(
  place: Place,
  file: string | undefined,
  options: RedriveOptions,
  confirmed: number,
): Promise<number> {
  const { queue, broker, letters: dead, operating } = place;
  return withJournal(options, async (journal) => {
    const [who, at, key] = [person(), new Date().toISOString(), keyOf(place)];
    const lock = await takeLock(journal, key, queue);
    try {
      await dead.lock?.(queue, { who, at });
      const digests: bigint[] = [];
      const { plan, rules } = await planned(place, options, (letter) =>
        digests.push(digestOf(operating.identityOf(letter))),
      );
      const problem = confirmProblem(queue, plan.letters, confirmed);
      if (problem !== null) throw refused([problem]);
      const { frozen, letters } = plan;
      const { generations, stopAbove, why = null } = options;
      const facts = {
        ...speedOf(options),
        id: randomUUID().slice(0, 8),
        broker,
        queue,
        key,
        who,
        why,
        at,
        frozen,
        letters,
        generations,
        stopAbove: stopAbove / 100,
        targets: [...(rules.targets ?? [])],
        place: placeWords(file, options),
        filter: filterWords(options),
      };
      const written = writeFrozen(digests);
      await journal.begin(facts, written);
      const before = { sent: 0, diedAgain: 0, mayBeDoubled: 0 };
      const begun = { facts, plan, before, rules, who, frozen: readFrozen(written), unrecorded: 0, heldMs: 0 };
      return await run(place, journal, begun, options);
    } finally {
      await lock.release();
    }
  });
}

/** @throws RefusedError if the queue is no dead queue */
async function planned(place: Place, options: RedriveOptions, chosen?: (letter: Letter) => void) {
  const { queue, contract, letters: dead, factsOf, operating } = place;
  const unreachable = contract === undefined ? null : operating.unreachable(contract);
  if (unreachable !== null) throw new UsageError(unreachable);
  const workQueue = contract?.workQueue ?? null;
  const targets = workQueue === null ? null : new Set([workQueue]);
  const { unsendable } = operating;
  const asked = { filter: filterOf(options), generations: options.generations, targets, workQueue, unsendable };
  const made = await planRedrive(dead, queue, asked, factsOf, speedOf(options), chosen);
  if ("problem" in made) throw refused([made.problem]);
  return made;
}

const speedOf = ({ rate, wait }: RedriveOptions): Speed => ({ perSecond: rate ?? null, waitMs: wait });

/** Names the queue for the lock. */
export const keyOf = ({ broker, address, queue }: Place): string => `${broker} ${address} ${queue}`;

function placeWords(file: string | undefined, options: PlaceOptions): JournalledPlace {
  const { target, strategy, consumer, queue, url, managementUrl, ca, cert, key } = options;
  const hosts = { url: withoutPassword(url), managementUrl: withoutPassword(managementUrl) };
  return { file, target, strategy, consumer, queue, ca, cert, key, ...hosts };
}

function withoutPassword(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const full = new URL(url);
  full.password = "";
  return full.href;
}

function filterWords(options: FilterOptions): FilterInput {
  const { group, reason, error, type, failedIn, from, to, routingKey, header, body, generation, redrive } = options;
  return { group, reason, error, type, failedIn, from, to, routingKey, header, body, generation, redrive };
}
