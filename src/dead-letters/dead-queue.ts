import { sharesDeadQueue } from "../contract/shared-dead-queue.ts";
import {
  type BrokerName,
  type Target,
  type TargetInput,
  brokerOf,
  checkTarget,
  defaultBroker,
} from "../brokers/index.ts";
import { type Proved, compileAndProve } from "../compile/compile.ts";
import { describeDeadLetter } from "../consume/dead-letter/describe.ts";
import type { AnyContract } from "../contract/contract.ts";
import type { System } from "../declare/system.ts";
import { refused } from "../diagnostics/render.ts";
import type { Subject } from "../explore/model.ts";
import { type LetterFacts, factsOf } from "../operate/facts.ts";
import { missingPackages } from "../node/missing-packages.ts";
import type { Letter } from "../operate/letter.ts";
import type { DeadLetters, Operating, OperatingConnection, Pass } from "../operate/port.ts";
import { UsageError } from "./usage-error.ts";

/** A dead queue, and the way to its letters. */
export interface DeadQueue {
  /** The broker that has the queue. */
  readonly broker: BrokerName;
  /** Its name on the broker. */
  readonly queue: string;
  /** The broker and its namespace. */
  readonly address: string;
  /** Null for a queue that no declaration names. */
  readonly consumer: string | null;
  /** True if the letters of other consumers are in it as well. Nothing shows or moves those. */
  readonly isShared: boolean;
  /** Undefined for a queue that no declaration names. */
  readonly contract: AnyContract | undefined;
  /** The queue for letters that do not name the queue they died in. Null if there is none. */
  readonly workQueue: string | null;
  /**
   * Null, unless the queue has letters of an earlier work queue: then the work queues of other consumers. Letters that
   * name one of those stay, and all other letters go to the work queue.
   */
  readonly others: ReadonlySet<string> | null;
  /** The consumer's proved model. Undefined for a queue that no declaration names. */
  readonly subject: Subject<unknown> | undefined;
  /** The most redrives of one letter, if the declaration says it. */
  readonly generations: number | undefined;
  readonly operating: Operating;
  readonly letters: DeadLetters;
  readonly factsOf: (letter: Letter) => LetterFacts;
}

/** A dead queue that a declaration names, or any queue by its name. */
export type DeadQueueInput = {
  /** The environment may have the parts that are left out, as for the command line. */
  readonly connection?: Partial<Omit<OperatingConnection, "place">>;
} & (
  | {
      /** The declaration that names the consumer. */
      readonly system: System;
      /** The consumer whose dead queue it is. */
      readonly consumer: string;
      /** The target that the system was deployed for. */
      readonly target: TargetInput;
      /** True for the queue with the parked letters of the consumer. */
      readonly parked?: boolean;
      /** A dead queue with letters of the queue that the consumer had before. They go to its present work queue. */
      readonly earlier?: string;
      /** The work queue that they died in. Required if consumers share the dead queue today. */
      readonly failedIn?: string;
    }
  | {
      /** The name of a queue that no declaration names. */
      readonly queue: string;
      /** The work queue of letters that do not name theirs. Without it they stay. */
      readonly workQueue?: string;
      readonly target?: TargetInput;
    }
);

/**
 * Connects to a dead queue. Close it with `queue.letters.close()`.
 *
 * @throws RefusedError if the declaration, the target or the broker refuses
 * @throws UsageError if there is no such queue in the declaration, or if the connection is none
 */
export async function openDeadQueue(input: DeadQueueInput): Promise<DeadQueue> {
  const { url, managementUrl, tls } = input.connection ?? {};
  return connectQueue(foundBy(input), { url, managementUrl, tls });
}

function foundBy(input: DeadQueueInput): FoundQueue {
  if ("queue" in input) {
    const { queue, workQueue = null } = input;
    if (input.target === undefined) return namedQueue(queue, null, workQueue);
    const checked = checkTarget(input.target);
    if (!checked.ok) throw refused(checked.diagnostics);
    return namedQueue(queue, checked.value, workQueue);
  }
  const proved = compileAndProve(input.system, input.target);
  if (!proved.ok) throw refused(proved.diagnostics);
  return declaredQueue(proved.value, input.consumer, input.parked === true, input.earlier, input.failedIn);
}

/** A queue before there is a connection. */
export type FoundQueue = Omit<DeadQueue, "address" | "operating" | "letters" | "factsOf"> & {
  /** The place that the target names, such as a region. */
  readonly place: string | null;
  /** The exchanges of the system that lead letters on by the names of their work queues. */
  readonly exchanges: readonly string[];
  /** Of a shared dead queue, the letters that died in this work queue are the consumer's. */
  readonly diedIn: string | null;
};

/** Any queue by its name. Without a target it is one of the default broker. */
export function namedQueue(queue: string, target: Target | null, workQueue: string | null): FoundQueue {
  return {
    broker: target?.broker ?? defaultBroker,
    place: target === null ? null : placeIn(target),
    exchanges: [],
    queue,
    consumer: null,
    isShared: false,
    contract: undefined,
    workQueue,
    diedIn: null,
    others: null,
    subject: undefined,
    generations: undefined,
  };
}

/**
 * The dead queue of a declared consumer, or the queue of its parked letters.
 *
 * @param earlier a dead queue that the consumer had before
 * @param failedIn the work queue that it had before, if consumers share the dead queue today
 * @throws UsageError if the consumer or such a queue is not declared, or if the earlier queue is declared today
 */
export function declaredQueue(
  { plan, compiled, target }: Pick<Proved, "plan" | "compiled" | "target">,
  consumer: string,
  isParked: boolean,
  earlier?: string,
  failedIn?: string,
): FoundQueue {
  const contracts: readonly AnyContract[] = compiled.contracts;
  const contract = contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) {
    const declared = contracts.map((each) => each.consumer).join(", ");
    throw new UsageError(`no consumer named ${JSON.stringify(consumer)} is declared; declared are ${declared}`);
  }
  if (contract.deadQueue === null) throw new UsageError(`the consumer ${consumer} has no dead queue`);
  const queue = earlier ?? (isParked ? contract.parkedQueue : contract.deadQueue);
  if (queue === undefined)
    throw new UsageError(`the consumer ${consumer} has no queue for parked letters: declare deadLetter.park`);
  const planned = plan.consumers.find((each) => each.consumer === consumer);
  const subject = brokerOf(target)
    .subjectsOf(compiled, target)
    .find((each) => each.consumer === consumer);
  const { workQueue } = contract;
  const isShared = sharesDeadQueue(target, planned?.deadQueue) && queue === contract.deadQueue;
  const present = contracts.find((each) => [each.workQueue, each.deadQueue, each.parkedQueue].includes(earlier ?? ""));
  // Its own dead queue may have letters of both.
  if (present !== undefined && earlier !== contract.deadQueue)
    throw new UsageError(`${earlier} is a queue of the consumer ${present.consumer} today, so leave out --queue`);
  if (earlier !== undefined && isShared && failedIn === undefined)
    throw new UsageError(
      `${earlier} is the dead queue of several consumers today: for its present letters leave out --queue, for earlier ones name the work queue of ${consumer} with --failed-in, and for one letter of any leave out the declaration`,
    );
  const others = new Set(contracts.flatMap((each) => (each === contract ? [] : (each.workQueue ?? []))));
  const { generations } = planned?.retry ?? {};
  const place = placeIn(target);
  const exchanges = brokerOf(target).letterExchanges?.(compiled) ?? [];
  const own = { broker: target.broker, place, exchanges };
  return {
    ...own,
    queue,
    consumer,
    isShared,
    contract,
    workQueue,
    diedIn: earlier === undefined ? workQueue : (failedIn ?? null),
    others: earlier === undefined && !isParked ? null : others,
    generations,
    subject,
  };
}

function placeIn(target: Target): string | null {
  return brokerOf(target).placeOf?.(target) ?? null;
}

/**
 * @throws UsageError if the connection is none
 * @throws RefusedError if the broker refuses
 */
export async function connectQueue(
  found: FoundQueue,
  { url, managementUrl, tls }: Omit<OperatingConnection, "place">,
): Promise<DeadQueue> {
  const { place, exchanges, contract, diedIn, ...queue } = found;
  const operating = await loaded(brokerOf(found));
  const connection = { url, managementUrl, tls, place };
  const problem = operating.problemOf(connection);
  if (problem !== null) throw new UsageError(problem);
  const letters = await operating.connect(connection);
  const describe: DeadQueue["factsOf"] = (letter) =>
    factsOf(letter, describeDeadLetter(operating.messageOf(letter), contract));
  const isOwn = (letter: Letter): boolean => (operating.diedIn(letter, exchanges) ?? describe(letter).queue) === diedIn;
  return {
    ...queue,
    contract,
    operating,
    address: [operating.addressOf(connection), await letters.accountOf?.(found.queue)].join(" ").trimEnd(),
    letters: found.isShared ? onlyOwn(letters, found.queue, isOwn) : letters,
    factsOf: describe,
  };
}

/** In a shared dead queue, the letters of one consumer. A letter that nobody knows the consumer of is nobody's. */
function onlyOwn(letters: DeadLetters, shared: string, isOwn: (letter: Letter) => boolean): DeadLetters {
  return {
    ...letters,
    look: async (queue, visit) =>
      letters.look(queue, queue === shared ? (letter) => !isOwn(letter) || visit(letter) : visit),
    move: async (queue, pass) => {
      const decide: Pass["decide"] = (letter) => (isOwn(letter) ? pass.decide(letter) : null);
      return letters.move(queue, queue === shared ? { ...pass, decide } : pass);
    },
  };
}

async function loaded({ operatingPackages, loadOperating }: ReturnType<typeof brokerOf>): Promise<Operating> {
  const missing = missingPackages(operatingPackages);
  if (missing.length > 0) throw new UsageError(`the client library is not installed: npm install ${missing.join(" ")}`);
  return loadOperating();
}
