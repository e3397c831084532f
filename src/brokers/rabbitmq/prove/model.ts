import { type Cause, type Model, type Move, type Situation, type Subject, moveOf } from "../../../explore/model.ts";
import { type RabbitmqTarget, capabilities } from "../compile/capabilities.ts";
import { type Closure, closureOf, indexTopology } from "./closure.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { Contract } from "../compile/contract.ts";
import { asInForce } from "../compile/topology.ts";
import { attemptOf } from "../../../contract/attempt-number.ts";
import { crashesBetween, endingsOf, operationsAfter } from "../../../contract/interpret.ts";
import { describeState, lossWords } from "./describe-state.ts";
import { exampleHeadersOf, examplesOf } from "../compile/names.ts";
import type { BrokerEvent, MessageState, Semantics } from "./semantics.ts";
import { brokerTopologyOf, semanticsOf, semanticsVersionOf } from "./semantics.ts";
import { flawOf, flawsOf } from "./flaws.ts";
import { foreignPolicyFlaws } from "./foreign-policies.ts";
import { withFullQueues } from "./full-queues.ts";
import { headerTexts } from "../../../plan/plan.ts";
import { perform } from "./perform.ts";
import { shapeOf } from "./shape.ts";
import { waitGrainMs } from "../compile/spread.ts";

/**
 * Lists the consumers that have a work queue. The proof takes each by itself.
 *
 * @param findFlaws the flaws that the models have; without it, all those that a proof refuses
 */
export function subjectsOf(
  compiled: RabbitmqCompiled,
  target: RabbitmqTarget,
  findFlaws = flawsOf,
): readonly Subject<MessageState>[] {
  const version = semanticsVersionOf(target);
  const index = indexTopology(asInForce(compiled.topology));
  return compiled.contracts.filter(hasQueues).map((contract) => {
    const closed = () => {
      const closure = closureOf(index, contract);
      return { closure, others: foreignPolicyFlaws(compiled.topology, closure, contract, version) };
    };
    return {
      consumer: contract.consumer,
      shape: () => {
        const { closure, others } = closed();
        return [shapeOf(closure, contract, version), ...others].join("\n");
      },
      model: () => {
        const { closure, others } = closed();
        const semantics = withFullQueues(semanticsOf(brokerTopologyOf(closure), version));
        const flaws = [...findFlaws(index, closure, contract, semantics, version), ...others];
        return { ...modelOn(semantics, closure, contract, target), flaws };
      },
    };
  });
}

/** The contract of a consumer with a work queue. */
export type QueueContract = Contract & { readonly workQueue: string; readonly deadQueue: string };

export function hasQueues(contract: Contract): contract is QueueContract {
  return contract.workQueue !== null && contract.deadQueue !== null;
}

/** Builds the model of one consumer on the part of a topology that its messages can reach. */
export function modelOn(
  semantics: Semantics,
  { queues }: Pick<Closure, "queues">,
  contract: QueueContract,
  target: RabbitmqTarget,
): Model<MessageState> {
  const { workQueue, deadQueue } = contract;
  const owners = new Map(queues.map((queue) => [queue.name, queue.consumer]));
  const deadQueueFlaw = flawOf(semantics.settings(deadQueue));
  const { returnsCount: returnsCost } = capabilities[target.version];
  return modelOf({ semantics, contract, workQueue, deadQueue, deadQueueFlaw, owners, returnsCost });
}

interface Context {
  /** The semantics of the part of the topology that the consumer's messages can reach. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly workQueue: string;
  readonly deadQueue: string;
  /** The reason that the dead queue loses messages; null if it keeps them. */
  readonly deadQueueFlaw: string | null;
  readonly owners: ReadonlyMap<string, string | null>;
  readonly returnsCost: boolean;
}

/**
 * Builds the explorer's model of one consumer. The contract says how its code acts, and the semantics of its version
 * say how the broker reacts.
 */
function modelOf(context: Context): Model<MessageState> {
  const { semantics, contract, owners, returnsCost } = context;
  const deliveryLimit = semantics.settings(context.workQueue)?.deliveryLimit ?? null;
  return {
    consumer: contract.consumer,
    starts: contract.sources.flatMap((source) =>
      publicationsFrom(source).map(({ key, routingKey, headers }) => ({
        key,
        // Copies for other consumers are left out: their own proofs cover them.
        states: semantics
          .publish({ exchange: source.exchange, routingKey, headers })
          .flat()
          .filter(({ place }) => {
            // A publisher keeps a message that the work queue refuses. The contract says that it may.
            if (place.kind === "refused") return contract.refusesWhenFull !== true || place.queue !== context.workQueue;
            return place.kind !== "queue" || (owners.get(place.queue) ?? contract.consumer) === contract.consumer;
          }),
      })),
    ),
    keyOf: semantics.behaviourKey,
    ...(deliveryLimit === null ? {} : { count: { ...semantics.comparedCount, most: deliveryLimit + 1 } }),
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    // Through the default exchange. A redrive leaves out the headers that route a message further.
    resend: () => semantics.publish({ exchange: "", routingKey: context.workQueue }).flat(),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? 1,
      maxDeliveries: contract.maxDeliveries,
      returnsCost,
      waitGrainMs,
    },
  };
}

/** One example for each message that a source takes, by a name for the proof. */
function publicationsFrom(source: Contract["sources"][number]) {
  return examplesOf(source).flatMap((routingKey, index) =>
    exampleHeadersOf(source).map((headers) => {
      const asked = source.arguments === undefined ? source.routingKeys[index] : headerTexts(headers).join(" ");
      return { key: `${source.exchange} ${asked}`.trim(), routingKey, headers };
    }),
  );
}

function situationOf(
  { contract, workQueue, deadQueue, deadQueueFlaw, owners }: Context,
  state: MessageState,
): Situation {
  const { place } = state;
  switch (place.kind) {
    case "acked":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: lossWords[place.cause] };
    case "refused":
      return { kind: "lost", why: `${place.queue} refuses it` };
    case "queue": {
      if (place.status === "retained")
        return { kind: "lost", why: `kept inside ${place.queue} for ever: ${lossWords[place.cause]}` };
      if (place.queue === workQueue) {
        const attempt = attemptIn(contract, state);
        if (place.status === "delayed") return { kind: "waiting" };
        return place.status === "delivered" ? { kind: "handling", attempt } : { kind: "work", attempt };
      }
      const owner = owners.get(place.queue) ?? null;
      if (place.queue === deadQueue) {
        const why = deadQueueFlaw ?? (owner === null ? namelessIn(deadQueue, workQueue, state) : null);
        return why === null ? { kind: "dead" } : { kind: "lost", why };
      }
      return owner === null || owner === contract.consumer ? { kind: "waiting" } : { kind: "astray", consumer: owner };
    }
    default:
      return place satisfies never;
  }
}

/** In a shared dead queue only the routing key tells whose a letter is: the name of the work queue that it died in. */
function namelessIn(deadQueue: string, workQueue: string, { routingKeys: [key] }: MessageState): string | null {
  return key === workQueue ? null : `its key in ${deadQueue} is ${JSON.stringify(key)}, so nobody knows whose it is`;
}

/** A suffix that is not written as a number makes the attempt unknown (0). `01` must not count as attempt 1. */
function attemptIn(
  { attemptNumber }: Contract,
  { deliveryCount, exchange, routingKeys: [routingKey = ""] }: MessageState,
): number {
  return attemptOf(attemptNumber, { routingKey, exchange, earlierDeliveries: deliveryCount }) ?? 0;
}

function movesOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, contract, workQueue } = context;
  const { place } = state;
  if (place.kind !== "queue") return [];
  const spontaneous = semantics.spontaneousEvents(state).map((event): Move<MessageState> => ({
    cause: "time",
    label: event.kind === "expire" ? `its time to live passes in ${place.queue}` : `${event.kind} in ${place.queue}`,
    ...waitOf(context, state, event.kind),
    outcomes: orLost(context, state, semantics.step(state, event)),
  }));
  if (place.queue !== workQueue) return [...spontaneous, ...lookedAtTooOften(context, state)];
  const move = (cause: Cause, label: string, outcomes: Move<MessageState>["outcomes"]): Move<MessageState> =>
    moveOf(cause, label, orLost(context, state, outcomes));
  if (place.status === "ready") {
    return [move("delivery", "delivered", semantics.step(state, { kind: "deliver" })), ...spontaneous];
  }
  if (place.status !== "delivered") return spontaneous;
  const attempt = attemptIn(contract, state);
  return [
    ...endingsOf(contract, attempt).map(({ cause, label, operations }) =>
      move(cause, label, perform(semantics, state, operations)),
    ),
    move("crash", `crash on attempt ${attempt}`, semantics.step(state, { kind: "crash" })),
    ...crashesBetween(contract, attempt).map(({ label, operations }) =>
      move("timeout", label, crashAfter(context, perform(semantics, state, operations))),
    ),
    move("timeout", `attempt ${attempt} is never settled`, semantics.step(state, { kind: "consumer-timeout" })),
    move("nack-requeue", "mistake: basic.nack with requeue", semantics.step(state, { kind: "nack", requeue: true })),
    move("reject", "mistake: basic.reject without requeue", semantics.step(state, { kind: "reject", requeue: false })),
  ];
}

/** The consumer crashes while it holds the message. Copies of it may exist. */
function crashAfter(
  { semantics, workQueue }: Context,
  outcomes: readonly (readonly MessageState[])[],
): readonly (readonly MessageState[])[] {
  const isHeld = ({ place }: MessageState): boolean =>
    place.kind === "queue" && place.queue === workQueue && place.status === "delivered";
  return outcomes.flatMap((states) => {
    const others = states.filter((each) => !isHeld(each));
    const held = states.find(isHeld);
    return held === undefined ? [states] : semantics.step(held, { kind: "crash" }).map((then) => [...others, ...then]);
  });
}

/**
 * Dead-lettering at most once does not wait for its target. If the target is out of reach, the dead letter is lost. So
 * each death in a queue of this kind may also end in a loss.
 */
function orLost(
  { semantics }: Context,
  state: MessageState,
  outcomes: readonly (readonly MessageState[])[],
): readonly (readonly MessageState[])[] {
  const { place } = state;
  if (place.kind !== "queue") return outcomes;
  const settings = semantics.settings(place.queue);
  if (settings === null || settings.deadLetterExchange === null || settings.deadLetterStrategy === "at-least-once")
    return outcomes;
  const isDeath = outcomes
    .flat()
    .some(({ deaths, place: then }) => deaths.length > 0 && deaths !== state.deaths && then.kind === "queue");
  if (!isDeath) return outcomes;
  return [...outcomes, [{ ...state, place: { kind: "lost", cause: "no-confirm", queue: place.queue, reason: null } }]];
}

/**
 * An operator who looks at a waiting message and puts it back raises the count of the queue's limit. The queue may then
 * send the message on before its time.
 */
function lookedAtTooOften({ semantics }: Context, state: MessageState): Move<MessageState>[] {
  const { place } = state;
  if (place.kind !== "queue" || place.status !== "ready") return [];
  const limit = semantics.settings(place.queue)?.deliveryLimit ?? null;
  if (limit === null) return [];
  const looked: MessageState = {
    ...state,
    place: { kind: "queue", queue: place.queue, status: "delivered" },
    acquiredCount: limit,
    deliveryCount: limit,
  };
  const label = `looked at in ${place.queue} and put back, more often than its delivery limit allows`;
  return [moveOf("time", label, semantics.step(looked, { kind: "crash" }))];
}

/**
 * Computes how long a message waits for an event of the broker. Only the head of a queue expires. So a message with a
 * short time to live may stand behind one that stays for as long as the queue allows.
 */
function waitOf(
  { semantics, contract }: Context,
  state: MessageState,
  event: BrokerEvent["kind"],
): Pick<Move<MessageState>, "waitedMs" | "waitedLatestMs"> {
  const { place, expiresAfterMs } = state;
  if (place.kind !== "queue") return { waitedMs: 0, waitedLatestMs: 0 };
  if (event === "expire") {
    return {
      waitedMs: expiresAfterMs ?? 0,
      waitedLatestMs: semantics.settings(place.queue)?.messageTtlMs ?? Number.POSITIVE_INFINITY,
    };
  }
  if (place.status !== "delayed") return { waitedMs: 0, waitedLatestMs: 0 };
  if (place.delayMs !== null) return { waitedMs: place.delayMs, waitedLatestMs: place.delayMs };
  // The consumer named the time in the outcome that led here, which is that of the attempt before.
  const named = operationsAfter(contract.outcomes.transient, attemptIn(contract, state) - 1)
    .flatMap((operation) => (operation.operation === "modified" ? [operation.deliveryTimeMs] : []))
    .find((each) => each !== undefined && each !== "asked");
  return { waitedMs: named?.from ?? 0, waitedLatestMs: named?.to ?? 0 };
}
