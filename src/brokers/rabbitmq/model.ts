import type { Move, Model, Situation } from "../model.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { Contract, Operation } from "./contract.ts";
import { operationsAfter } from "./contract.ts";
import type { MessageState, Semantics } from "./semantics.ts";
import { brokerTopologyOf, semanticsOf, semanticsVersionOf } from "./semantics.ts";

/** The consumers of a compiled system that have a work queue, each ready to be explored. */
export function modelsOf(compiled: RabbitmqCompiled, target: RabbitmqTarget): readonly Model<MessageState>[] {
  const semantics = semanticsOf(brokerTopologyOf(compiled.topology), semanticsVersionOf(target));
  const owners = new Map(compiled.topology.queues.map((queue) => [queue.name, queue.consumer]));
  return compiled.contracts.flatMap((contract) => modelOf(semantics, owners, contract) ?? []);
}

/**
 * One consumer of a compiled topology, as the explorer wants it: what its code does by its contract, and what the broker then
 * does by its version's semantics.
 */
function modelOf(
  semantics: Semantics,
  owners: ReadonlyMap<string, string | null>,
  contract: Contract,
): Model<MessageState> | null {
  const { workQueue, deadQueue } = contract;
  if (workQueue === null || deadQueue === null) return null;
  const context: Context = { semantics, contract, workQueue, deadQueue, owners };
  return {
    consumer: contract.consumer,
    starts: contract.sources.flatMap(({ exchange, routingKeys }) =>
      routingKeys.map((pattern) => ({
        key: `${exchange} ${pattern}`,
        // Other consumers have their own copies of what a source publishes; those are theirs.
        states: semantics
          .publish({ exchange, routingKey: exampleOf(pattern) })
          .flat()
          .filter(
            (state) =>
              state.place.kind !== "queue" ||
              (owners.get(state.place.queue) ?? contract.consumer) === contract.consumer,
          ),
      })),
    ),
    keyOf: semantics.behaviourKey,
    situationOf: (state) => situationOf(context, state),
    movesOf: (state) => movesOf(context, state),
    describe: (state) => describe(state),
    wanted: {
      attempts: contract.attempts,
      crashDeliveries: contract.crashDeliveries ?? 1,
      maxDeliveries: contract.maxDeliveries,
    },
  };
}

interface Context {
  readonly semantics: Semantics;
  readonly contract: Contract;
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly owners: ReadonlyMap<string, string | null>;
}

/** A routing key that a pattern matches. */
function exampleOf(pattern: string): string {
  return pattern
    .split(".")
    .map((word) => (word === "*" || word === "#" ? "example" : word))
    .join(".");
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
    waitedMs:
      event.kind === "expire"
        ? (state.expiresAfterMs ?? 0)
        : place.status === "delayed"
          ? (place.delayMs ?? namedDelayMs(contract, state))
          : 0,
    outcomes: semantics.step(state, event),
  }));
  if (place.queue !== workQueue) return spontaneous;
  if (place.status === "ready") {
    return [
      { cause: "delivery", label: "delivered", waitedMs: 0, outcomes: semantics.step(state, { kind: "deliver" }) },
      ...spontaneous,
    ];
  }
  if (place.status !== "delivered") return spontaneous;
  const attempt = attemptOf(contract, state);
  const keeping = (["success", "transient", "permanent", "return"] as const).map((cause): Move<MessageState> => ({
    cause,
    label: labels[cause](attempt),
    waitedMs: 0,
    outcomes: perform(context, state, operationsAfter(contract.outcomes[cause], attempt)),
  }));
  return [
    ...keeping,
    {
      cause: "crash",
      label: `crash on attempt ${attempt}`,
      waitedMs: 0,
      outcomes: semantics.step(state, { kind: "crash" }),
    },
    {
      cause: "nack-requeue",
      label: "mistake: basic.nack with requeue",
      waitedMs: 0,
      outcomes: semantics.step(state, { kind: "nack", requeue: true }),
    },
    {
      cause: "reject",
      label: "mistake: basic.reject without requeue",
      waitedMs: 0,
      outcomes: semantics.step(state, { kind: "reject", requeue: false }),
    },
  ];
}

const labels = {
  success: (attempt: number) => `success on attempt ${attempt}`,
  transient: (attempt: number) => `transient failure of attempt ${attempt}`,
  permanent: (attempt: number) => `permanent failure of attempt ${attempt}`,
  return: () => "returned",
} as const;

/** The delay that the consumer named in the outcome that led here: that of the attempt which is next. */
function namedDelayMs(contract: Contract, state: MessageState): number {
  return contract.attempts[attemptOf(contract, state) - 1]?.delayMs ?? 0;
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
        const { exchange, routingKey, headers = {} } = operation;
        const kept = Object.fromEntries(
          Object.entries(original.headers).filter(([name]) => !operation.removeHeaders?.includes(name)),
        );
        return semantics.publish({ exchange, routingKey, headers: { ...kept, ...headers } }).map((published) => {
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

function describe(state: MessageState): string {
  const { place } = state;
  const key = state.routingKeys[0] ?? "";
  switch (place.kind) {
    case "queue":
      return `${place.status} in ${place.queue}, key ${JSON.stringify(key)}${state.lastDeath === null ? "" : `, last died of ${state.lastDeath.reason}`}`;
    case "acked":
      return `acknowledged in ${place.queue}`;
    case "lost":
      return `lost${place.queue === null ? "" : ` after ${place.queue}`}: ${place.cause}`;
    case "refused":
      return `refused by ${place.queue}`;
    default:
      return place satisfies never;
  }
}
