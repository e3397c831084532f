import type { DeployedPart } from "../brokers/deployed-part.ts";
import { brokerOf } from "../brokers/index.ts";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type Changed, type Deployed, isElsewhere } from "./deployed.ts";
import { fixedDifferences } from "./refuse-change.ts";

/** The work queues that consumers have had, by name: `{ legacy: { system: "shop", … } }`. */
export type HeldQueues = Readonly<Record<string, Held>>;

/** The owner of the messages that may still lie in a work queue. */
export interface Held {
  readonly system: string;
  /** A renamed consumer has its first name here. */
  readonly consumer: string;
  /** Its dead letters go to this queue. */
  readonly deadQueue: string | null;
  /** The settings of both queues that cannot change, by name. Left out in locks of earlier versions. */
  readonly fixed?: Readonly<Record<string, DeployedPart["fixed"]>> | undefined;
}

/** A deployed system, and the queues that consumers of earlier declarations left behind. Only a lock knows these. */
export interface Holding extends Deployed {
  readonly held?: HeldQueues;
}

/**
 * Adds the work queues of a declaration. A queue stays known after its consumer has left, because the queue stays on
 * the broker with its messages.
 *
 * @param before the queues of all earlier declarations
 */
export function heldAfter(before: HeldQueues, side: Changed): HeldQueues {
  const system = nameOfSystem(side.system);
  const parts = brokerOf(side.target).deployedPartsOf(side.compiled);
  const settings = new Map(parts.flatMap(({ holds, name, fixed }) => (holds === null ? [] : [[name, fixed] as const])));
  const now = side.compiled.contracts.flatMap(({ workQueue, deadQueue, consumer }) => {
    if (workQueue === null) return [];
    const fixed = [workQueue, deadQueue ?? ""].flatMap((name) => {
      const own = settings.get(name);
      return own === undefined ? [] : [[name, own] as const];
    });
    const held = { system, consumer: firstName(side, consumer), deadQueue, fixed: Object.fromEntries(fixed) };
    return [[workQueue, held] as const];
  });
  return { ...before, ...Object.fromEntries(now) };
}

/** The work queues that consumers have left behind once the next declaration is deployed, in the order of their names. */
export function leftQueues(before: HeldQueues, from: Changed, to: Changed): HeldQueues {
  if (isElsewhere(from, to)) return {};
  const own = new Set(to.compiled.contracts.map(({ workQueue }) => workQueue));
  const left = Object.entries(heldAfter(before, from)).filter(([queue]) => !own.has(queue));
  return Object.fromEntries(left.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The settings in which a queue that stayed on the broker differs from the one that a declaration needs. */
export function otherSettings(
  held: HeldQueues,
  workQueue: string | null,
  to: Pick<Deployed, "parts">,
): readonly string[] {
  const { fixed = {} } = (workQueue !== null && Object.hasOwn(held, workQueue) && held[workQueue]) || {};
  return to.parts.flatMap((part) => {
    const was = part.holds !== null && Object.hasOwn(fixed, part.name) ? fixed[part.name] : undefined;
    return was === undefined ? [] : fixedDifferences(was, part.fixed);
  });
}

function firstName({ system }: Pick<Deployed, "system">, consumer: string): string {
  return system.consumers[consumer]?.formerly ?? consumer;
}

/**
 * Refuses a queue that an earlier consumer left behind and that would get another consumer, another dead queue or other
 * arguments. The old messages would reach the wrong code, a dead letter would go to both dead queues, and the broker
 * refuses other arguments.
 *
 * @param from the last declaration. `refuseChange` compares the queues that it has.
 */
export function leftQueuesTaken(from: Deployed, to: Deployed, held: HeldQueues): readonly Diagnostic[] {
  const compared = new Set(from.compiled.contracts.map(({ workQueue }) => workQueue));
  return to.compiled.contracts.flatMap(({ workQueue: queue, deadQueue, consumer }) => {
    const was = queue !== null && !compared.has(queue) && Object.hasOwn(held, queue) ? held[queue] : undefined;
    if (was === undefined) return [];
    if (was.system !== nameOfSystem(to.system) || ![consumer, firstName(to, consumer)].includes(was.consumer))
      return [
        diagnostic("RD302", {
          path: ["consumers", consumer, "queue"],
          message: `the queue ${queue} belonged to ${was.consumer} of ${was.system} and would belong to ${consumer}`,
          notes: ["it stayed on the broker, and messages may wait in it"],
          help: `give ${consumer} another queue; if it is the same consumer under another name, write formerly: ${was.consumer}`,
        }),
      ];
    // A consumer that stays moves its queues in steps, and those end the old bindings.
    if (from.contracts.has(consumer)) return [];
    const facts = otherSettings(held, queue, to);
    if (facts.length > 0)
      return [
        diagnostic("RD302", {
          path: ["consumers", consumer],
          message: `the queue ${queue} stayed on the broker, and cannot be changed in place: ${facts.join(", ")}`,
          help: `give ${consumer} another queue, or declare it as it was`,
        }),
      ];
    const isChangeable = brokerOf(to.target).changesDeadQueue === true;
    if (isChangeable || was.deadQueue === deadQueue) return [];
    return [
      diagnostic("RD302", {
        path: ["consumers", consumer, "deadLetter", "queue"],
        message: `the dead queue of ${queue} was ${was.deadQueue ?? "none"} and would be ${deadQueue ?? "none"}`,
        notes: ["the queue stayed on the broker with its bindings, so dead letters would go to both"],
        help: `keep the dead queue ${was.deadQueue ?? ""} with deadLetter.queue or names.dead, or give ${consumer} another queue`,
      }),
    ];
  });
}
