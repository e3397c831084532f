import { formatDurationMs } from "../../../../declare/duration.ts";
import { wholeName } from "../../../../foreign/purpose.ts";
import { reservedKeyPrefix } from "../../compile/names.ts";
import type { EffectiveSettings } from "../../prove/semantics.ts";
import type { Course } from "./course.ts";
import { isProducersDelay, isSharedDelay } from "./frameworks.ts";
import type { Looking } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";

/** The retry policy that a topology amounts to. */
export interface Schedule {
  readonly delaysMs: readonly number[];
  readonly from: string;
  /** True if one counter of the broker counts attempts and crashes. */
  readonly countsCrashes: boolean;
  readonly unsaid: readonly string[];
}

/** The attempts to declare if the topology itself never ends them. A person has to set the number. */
const attemptsIfEndless = 5;

export function scheduleOf(looking: Looking, settings: EffectiveSettings, course: Course): Schedule {
  const waits = consumersWaits(looking, settings.queue);
  const schedule = amountingTo(looking, settings, course, waits);
  const names = new Set([...course.waits, ...waits.map((each) => each.queue)]);
  const others = looking.settings
    .filter((each) => names.has(each.queue))
    .flatMap((each) => looking.surroundings.aimsOf(each))
    .filter((aim) => aim !== settings.queue && looking.surroundings.shapeOf(aim) === "work");
  if (others.length === 0) return schedule;
  const fact = `its retries come back through an exchange today, so ${[...new Set(others)].join(", ")} can get each of them as well; declared ones reach this consumer alone`;
  return { ...schedule, unsaid: [...schedule.unsaid, fact] };
}

function amountingTo(
  looking: Looking,
  settings: EffectiveSettings,
  course: Course,
  waits: readonly EffectiveSettings[],
): Schedule {
  const { queue, deliveryLimit, delayedRetry } = settings;
  const [firstMs = 0] = course.delaysMs;
  const through = course.waits.length === 0 ? "" : ` through ${course.waits.join(", ")}`;
  // A consumer that names the next queue in a header changes the header itself, so a rejected message takes one of them.
  if (course.end === "endless" && course.waits.length > 0 && waits.length > course.waits.length)
    return copied(looking, queue, waits);
  if (course.end === "endless")
    return {
      delaysMs: Array.from({ length: attemptsIfEndless - 1 }, () => firstMs),
      from: `rejected messages come back after ${formatDurationMs(firstMs)}${through}, without an end; write the number of attempts of its code here, because ${attemptsIfEndless} is a guess`,
      countsCrashes: delayedRetry !== null,
      unsaid: [
        `the broker brings failed messages back without an end, so its consumers decide the number of attempts; ${attemptsIfEndless} is a guess, so write the number of their code`,
      ],
    };
  if (course.delaysMs.length > 0)
    return {
      delaysMs: course.delaysMs,
      from:
        delayedRetry === null
          ? `rejected messages come back after ${delaysText(course.delaysMs)}${through}`
          : `delayed retry of ${queue} holds failed messages back, and the delivery limit ends it`,
      countsCrashes: delayedRetry !== null,
      unsaid: [],
    };
  const own = ownSystemOf(looking.topology, settings);
  // Otherwise it is the broker's default.
  const isLimitSet = "delivery-limit" in looking.valuesOf(queue);
  if (waits.length > 0 || own?.strategy === "waits") return copied(looking, queue, waits);
  if (own?.strategy !== "staged" && deliveryLimit !== null && isLimitSet && deliveryLimit < 1_000)
    return {
      delaysMs: Array.from({ length: deliveryLimit }, () => 0),
      from: `the delivery limit of ${queue} is ${deliveryLimit}; requeued messages come back at once`,
      countsCrashes: true,
      unsaid: ["delays that its consumers make themselves, and the protocol that they use, show in no queue"],
    };
  return {
    delaysMs: [],
    from: `${own === null ? "write the schedule of its code here, because no queue shows it: " : ""}rejected messages of ${queue} do not come back`,
    countsCrashes: false,
    unsaid: own === null ? ["retries in its consumers' code show in no queue, so it is declared with one attempt"] : [],
  };
}

/**
 * Waiting queues that lead to a work queue, but that its rejected messages do not pass: consumers publish there. A queue
 * for the dead letters of others, or for messages of producers, shows no such thing. One that leads to several queues
 * through an exchange belongs to the one in its name.
 */
function consumersWaits(looking: Looking, queue: string): readonly EffectiveSettings[] {
  const { surroundings, settings, delays } = looking;
  return settings
    .filter(
      ({ queue: wait }) =>
        surroundings.shapeOf(wait) === "wait" && !isSharedDelay(wait) && !isProducersDelay(wait) && !delays.has(wait),
    )
    .filter((each) => {
      const aims = surroundings.aimsOf(each);
      const owners = aims.filter((aim) => wholeName(aim).test(each.queue));
      return aims.includes(queue) && (owners.length === 0 || owners.includes(queue));
    })
    .filter(({ queue: wait }) => {
      const dying = dyingInto(looking, wait);
      return dying.size === 0 || dying.has(queue);
    })
    .toSorted((left, right) => (left.messageTtlMs ?? 0) - (right.messageTtlMs ?? 0));
}

/** The queues whose dead letters come into a waiting queue, also through others. */
function dyingInto({ surroundings, settings }: Looking, wait: string): ReadonlySet<string> {
  const dying = new Set<string>();
  // The loop also reaches elements that are added to the set while it runs.
  const waits = new Set([wait]);
  for (const next of waits)
    for (const each of settings) {
      if (!surroundings.aimsOf(each).includes(next)) continue;
      (surroundings.shapeOf(each.queue) === "wait" ? waits : dying).add(each.queue);
    }
  return dying;
}

function copied({ topology }: Looking, queue: string, waits: readonly EffectiveSettings[]): Schedule {
  const delaysMs = [...new Set(waits.flatMap((each) => each.messageTtlMs ?? []))];
  const names = waits.map((each) => each.queue).join(", ");
  const keys = topology.bindings.filter(
    ({ destination, routingKey }) => destination === queue && routingKey.startsWith(reservedKeyPrefix),
  );
  const retries = keys.length === 0 ? delaysMs.length : keys.length;
  const longest = delaysMs.at(-1) ?? 0;
  return {
    delaysMs: Array.from({ length: retries }, (_, index) => delaysMs[index] ?? longest),
    from:
      delaysMs.length === 0
        ? `write the schedule of its code here, because no queue shows it: consumers publish failed messages to ${names}`
        : `consumers publish failed messages to ${names}, by the length of their delays`,
    countsCrashes: false,
    unsaid: [
      ...(delaysMs.length < waits.length ? [`messages in ${names} have times to live of their own`] : []),
      ...(delaysMs.length === 0
        ? []
        : [`its consumers choose the waiting queue for each attempt; that each of ${names} is used once is a guess`]),
    ],
  };
}

function delaysText(delaysMs: readonly number[]): string {
  const texts = delaysMs.slice(0, 8).map(formatDurationMs);
  return `${texts.join(", ")}${delaysMs.length > 8 ? ", …" : ""}`;
}
