import { randomUUID } from "node:crypto";

import { refused } from "../diagnostics/render.ts";
import type { FilterInput } from "../operate/filter.ts";
import { forecastRedrive } from "../simulate/forecast-redrive.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import type { JournalledPlace } from "../operate/journal.ts";
import { type Speed, confirmProblem, planRedrive } from "../operate/plan.ts";
import type { Fate } from "../operate/redrive.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { withLocks } from "./dead-journal.ts";
import type { FilterOptions, PlaceOptions } from "./dead-options.ts";
import { type Place, UsageError, atPlace, filterOf } from "./dead-place.ts";
import { run } from "./dead-run.ts";
import { checkOpen, parkBeyond, parkOf } from "./dead-take-out.ts";
import { print } from "./output.ts";

export interface RedriveOptions extends FilterOptions, JournalOptions {
  readonly rate?: number;
  readonly generations?: number;
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
    const park = parkOf(place, plan);
    const forecast = subject === undefined ? "no declaration names the queue" : forecastRedrive(subject, plan, speed);
    return print(
      options.json === true
        ? { ...plan, park, horizonMs, forecast }
        : renderPlan(plan, speed, horizonMs, forecast, park),
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
  const { queue, broker, operating } = place;
  return withLocks(place, options, async (journal, held) => {
    const digests: Partial<Record<Fate, bigint[]>> = {};
    const { plan, rules } = await planned(place, options, (letter, fate) => {
      if (fate === "sent" || fate === "sent too often")
        (digests[fate] ??= []).push(digestOf(operating.identityOf(letter)));
    });
    const park = parkOf(place, plan);
    const problem = confirmProblem(queue, plan.letters + (park?.letters ?? 0), confirmed);
    if (problem !== null) throw refused([problem]);
    if (park !== null) await checkOpen(place, park.queue);
    const { frozen, letters } = plan;
    const { generations } = rules;
    const { stopAbove, why = null } = options;
    const facts = {
      ...speedOf(options),
      ...held,
      id: randomUUID().slice(0, 8),
      broker,
      queue,
      why,
      frozen,
      letters,
      generations,
      stopAbove: stopAbove / 100,
      targets: [...(rules.targets ?? [])],
      place: placeWords(file, options),
      filter: filterWords(options),
    };
    const written = writeFrozen(digests.sent ?? []);
    await journal.begin(facts, written);
    const begun = {
      facts,
      plan,
      rules,
      who: held.who,
      before: { sent: 0, diedAgain: 0, mayBeDoubled: 0 },
      frozen: readFrozen(written),
      unrecorded: 0,
      heldMs: 0,
    };
    if (park === null) return run(place, journal, begun, options);
    const tooOften = readFrozen(writeFrozen(digests["sent too often"] ?? []));
    const parking = { ...park, id: facts.id, by: held.who, rules, frozen: tooOften };
    return run(place, journal, { ...begun, park: (stopped) => parkBeyond(place, { ...parking, stopped }) }, options);
  });
}

/** Who names the parked letters wants them sent. The journal keeps no infinite number. */
const noMost = Number.MAX_SAFE_INTEGER;

/** @throws RefusedError if the queue is no dead queue */
async function planned(place: Place, options: RedriveOptions, judged?: Parameters<typeof planRedrive>[5]) {
  const { queue, contract, letters: dead, factsOf, operating } = place;
  const unreachable = contract === undefined ? null : operating.unreachable(contract);
  if (unreachable !== null) throw new UsageError(unreachable);
  const workQueue = contract?.workQueue ?? null;
  const targets = workQueue === null ? null : new Set([workQueue]);
  const { unsendable } = operating;
  const declared = options.parked === true ? noMost : (place.generations ?? 3);
  const generations = options.generations ?? declared;
  const asked = { filter: filterOf(options), generations, targets, workQueue, unsendable };
  const made = await planRedrive(dead, queue, asked, factsOf, speedOf(options), judged);
  if ("problem" in made) throw refused([made.problem]);
  return made;
}

const speedOf = ({ rate, wait }: RedriveOptions): Speed => ({ perSecond: rate ?? null, waitMs: wait });

function placeWords(file: string | undefined, options: PlaceOptions): JournalledPlace {
  const { target, strategy, consumer, parked = false, queue, url, managementUrl, ca, cert, key } = options;
  const hosts = { url: withoutPassword(url), managementUrl: withoutPassword(managementUrl) };
  return { file, target, strategy, consumer, parked, queue, ca, cert, key, ...hosts };
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
