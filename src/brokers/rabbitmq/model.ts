import type { Cause, Model, Move, Situation, Subject } from "../../explore/model.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { closureOf, indexTopology } from "./closure.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { Contract, Operation } from "./contract.ts";
import { operationsAfter } from "./contract.ts";
import { describeState } from "./describe-state.ts";
import { examplesOf } from "./names.ts";
import type { BrokerEvent, MessageState, Semantics } from "./semantics.ts";
import { brokerTopologyOf, semanticsOf, semanticsVersionOf } from "./semantics.ts";
import { shapeOf } from "./shape.ts";

/** The consumers of a compiled system that have a work queue, each to be proved by itself. */
export function subjectsOf(compiled: RabbitmqCompiled, target: RabbitmqTarget): readonly Subject<MessageState>[] {
  const version = semanticsVersionOf(target);
  const index = indexTopology(compiled.topology);
  return compiled.contracts.flatMap((contract) => {
    const { workQueue, deadQueue } = contract;
    if (workQueue === null || deadQueue === null) return [];
    return [
      {
        consumer: contract.consumer,
        shape: () => shapeOf(closureOf(index, contract), contract, version),
        model: () => {
          const closure = closureOf(index, contract);
          const semantics = semanticsOf(brokerTopologyOf(closure), version);
          const owners = new Map(closure.queues.map((queue) => [queue.name, queue.consumer]));
          return modelOf({ semantics, contract, workQueue, deadQueue, owners });
        },
      },
    ];
  });
}

interface Context {
  /** Of the part of the topology that the consumer's messages can get to. */
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly owners: ReadonlyMap<string, string | null>;
}

/**
 * One consumer of a compiled topology, as the explorer wants it: what its code does by its contract, and what the broker then
 * does by its version's semantics.
 */
function modelOf(context: Context): Model<MessageState> {
  const { semantics, contract, owners } = context;
  return {
    consumer: contract.consumer,
    starts: contract.sources.flatMap(({ exchange, routingKeys }) =>
      examplesOf(routingKeys).map((routingKey, index) => ({
        key: `${exchange} ${routingKeys[index]}`,
        // Other consumers have their own copies of what a source publishes; those are theirs.
        states: semantics
          .publish({ exchange, routingKey })
          .flat()
          .filter(
            (state) =>
              state.place.kind !== "queue" ||
              (owners.get(state.place.queue) ?? contract.consumer) === contract.consumer,
          ),
      })),
    ),
    keyOf: semantics.behaviourKey,
    placeOf: ({ place }) => (place.kind === "queue" ? place.queue : null),
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: describeState,
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? 1,
      maxDeliveries: contract.maxDeliveries,
    },
  };
}

function situationOf({ contract, workQueue, deadQueue, owners }: Context, state: MessageState): Situation {
  const { place } = state;
  switch (place.kind) {
    case "acked":
      return { kind: "done" };
    case "lost":
      return { kind: "lost", why: place.cause };
    case "refused":
      return { kind: "lost", why: `${place.queue} refuses it` };
    case "queue": {
      if (place.status === "retained")
        return { kind: "lost", why: `kept inside ${place.queue} for ever: ${place.cause}` };
      if (place.queue === workQueue) {
        const attempt = attemptOf(contract, state);
        if (place.status === "delayed") return { kind: "waiting" };
        return place.status === "delivered" ? { kind: "handling", attempt } : { kind: "work", attempt };
      }
      if (place.queue === deadQueue) return { kind: "dead" };
      const owner = owners.get(place.queue) ?? null;
      return owner === null || owner === contract.consumer ? { kind: "waiting" } : { kind: "astray", consumer: owner };
    }
    default:
      return place satisfies never;
  }
}

function attemptOf(contract: Contract, state: MessageState): number {
  const where = contract.attemptNumber;
  if (where === null) return 1;
  if (where.from === "header") return state.deliveryCount + 1;
  const [key = ""] = state.routingKeys;
  return key.startsWith(where.prefix) ? Number(key.slice(where.prefix.length)) : 1;
}

function movesOf(context: Context, state: MessageState): Move<MessageState>[] {
  const { semantics, contract, workQueue } = context;
  const { place } = state;
  if (place.kind !== "queue") return [];
  const spontaneous = semantics.spontaneousEvents(state).map((event): Move<MessageState> => ({
    cause: "time",
    label: event.kind === "expire" ? `its time to live passes in ${place.queue}` : `${event.kind} in ${place.queue}`,
    ...waitOf(context, state, event.kind),
    outcomes: semantics.step(state, event),
  }));
  if (place.queue !== workQueue) return spontaneous;
  const move = (cause: Cause, label: string, outcomes: Move<MessageState>["outcomes"]): Move<MessageState> => ({
    cause,
    label,
    waitedMs: 0,
    waitedLatestMs: 0,
    outcomes,
  });
  if (place.status === "ready") {
    return [move("delivery", "delivered", semantics.step(state, { kind: "deliver" })), ...spontaneous];
  }
  if (place.status !== "delivered") return spontaneous;
  const attempt = attemptOf(contract, state);
  const after = (cause: "success" | "transient" | "permanent" | "return"): Move<MessageState> =>
    move(cause, labels[cause](attempt), perform(context, state, operationsAfter(contract.outcomes[cause], attempt)));
  const asked = (contract.retryAfter ?? []).map(({ upToMs, byAttempt }) =>
    move(
      "retry-after",
      `attempt ${attempt} asks for ${upToMs} ms`,
      perform(context, state, operationsAfter({ byAttempt }, attempt)),
    ),
  );
  return [
    after("success"),
    after("transient"),
    after("permanent"),
    after("return"),
    ...asked,
    move("crash", `crash on attempt ${attempt}`, semantics.step(state, { kind: "crash" })),
    move("timeout", `attempt ${attempt} is never settled`, semantics.step(state, { kind: "consumer-timeout" })),
    move("nack-requeue", "mistake: basic.nack with requeue", semantics.step(state, { kind: "nack", requeue: true })),
    move("reject", "mistake: basic.reject without requeue", semantics.step(state, { kind: "reject", requeue: false })),
  ];
}

const labels = {
  success: (attempt: number) => `success on attempt ${attempt}`,
  transient: (attempt: number) => `transient failure of attempt ${attempt}`,
  permanent: (attempt: number) => `permanent failure of attempt ${attempt}`,
  return: () => "returned",
} as const;

/**
 * How long a message waits for what comes by itself. A message with a shorter time to live than its queue's may stand
 * behind one that stays for as long as the queue allows, since only the head of a queue expires.
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
  // The consumer named the time in the outcome that led here: that of the attempt which is next.
  const next = contract.attempts[attemptOf(contract, state) - 1];
  return { waitedMs: next?.delayMs ?? 0, waitedLatestMs: next?.delayLatestMs ?? next?.delayMs ?? 0 };
}

/**
 * Does an outcome's operations one after the other. A copy that has no route comes back to the publisher (mandatory), who
 * then does not go on: the message stays unsettled.
 */
function perform(
  { semantics }: Context,
  state: MessageState,
  operations: readonly Operation[],
): readonly (readonly MessageState[])[] {
  let alternatives: { copies: readonly MessageState[]; original: MessageState; stopped: boolean }[] = [
    { copies: [], original: state, stopped: false },
  ];
  for (const operation of operations) {
    alternatives = alternatives.flatMap((alternative) => {
      if (alternative.stopped) return [alternative];
      const { copies, original } = alternative;
      if (operation.operation === "basic.publish") {
        const { exchange, routingKey, headers = {}, expirationMs } = operation;
        const kept = Object.fromEntries(
          Object.entries(original.headers).filter(([name]) => !operation.removeHeaders?.includes(name)),
        );
        const publication = {
          exchange,
          routingKey,
          headers: { ...kept, ...headers },
          // The shortest time that the contract allows: nothing may come earlier. A delay that was asked for is at most the queue's.
          expirationMs: typeof expirationMs === "object" && expirationMs !== null ? expirationMs.from : null,
        };
        return semantics.publish(publication).map((published) => {
          const arrived = published.every((each) => each.place.kind === "queue");
          return arrived
            ? { copies: [...copies, ...published], original, stopped: false }
            : { copies, original, stopped: true };
        });
      }
      return semantics.step(original, eventOf(operation)).map((after) => {
        const [first, ...others] = after;
        return { copies: [...copies, ...others], original: first ?? original, stopped: false };
      });
    });
  }
  return alternatives.map(({ copies, original }) => [...copies, original]);
}

function eventOf(operation: Exclude<Operation, { operation: "basic.publish" }>): Parameters<Semantics["step"]>[1] {
  switch (operation.operation) {
    case "basic.ack":
      return { kind: "ack" };
    case "basic.nack":
      return { kind: "nack", requeue: operation.requeue };
    case "basic.reject":
      return { kind: "reject", requeue: operation.requeue };
    case "accepted":
    case "released":
      return { kind: operation.operation };
    case "modified":
      return {
        kind: "modified",
        deliveryFailed: operation.deliveryFailed,
        undeliverableHere: operation.undeliverableHere,
        deliveryTime: operation.deliveryTimeMs !== undefined,
      };
    default:
      return operation satisfies never;
  }
}
