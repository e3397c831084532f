import fc from "fast-check";

import { type MessageState, semanticsOf, type SqsEvent } from "../../../src/brokers/sqs/prove/semantics.ts";
import type { CompiledSystem } from "../../../src/index.ts";

type SqsQueue = CompiledSystem<"sqs">["topology"]["queues"][number];

/** A few queues, and a program's actions on one message in them, all derived from a seed. */
export interface RandomCourse {
  readonly queues: readonly SqsQueue[];
  readonly actions: readonly Action[];
}

/** An action of a program. Queues are named by their place in the list. */
export type Action =
  | { readonly kind: "receive"; readonly queue: number }
  | { readonly kind: "delete" }
  | { readonly kind: "change-visibility"; readonly seconds: number }
  /** Waits until every message with a short timeout or delay is visible. */
  | { readonly kind: "wait" };

/** An observation: the message of a receive and its count, a refusal, or the place of the message. */
export type Observation =
  | { readonly kind: "received"; readonly queue: string; readonly receiveCount: number | null }
  | { readonly kind: "answered"; readonly event: SqsEvent; readonly refused: boolean }
  | { readonly kind: "waited" }
  | { readonly kind: "found"; readonly queue: string | null };

/** A message with this timeout stays hidden for the whole test. */
const longSeconds = 600;
const shortSeconds = 1;

const visibility = fc.constantFrom(0, shortSeconds, longSeconds);
const queue = fc.record({
  visibility,
  delay: fc.constantFrom(0, 0, 0, shortSeconds),
  count: fc.integer({ min: 1, max: 3 }),
});

/** One to three queues, each the dead-letter queue of the one before. The last may lead back to the first. */
const anyCourse: fc.Arbitrary<RandomCourse> = fc
  .record({
    own: fc.array(queue, { minLength: 1, maxLength: 3 }),
    fifo: fc.boolean(),
    isCircle: fc.constantFrom(false, false, false, true),
    actions: fc.array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({ kind: fc.constant("receive" as const), queue: fc.constantFrom(0, 0, 0, 1, 2) }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("change-visibility" as const), seconds: visibility }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const) }) },
      ),
      { minLength: 4, maxLength: 14 },
    ),
  })
  .map(({ own, fifo, isCircle, actions }) => {
    const nameOf = (index: number): string => `q${index}${fifo ? ".fifo" : ""}`;
    const queues = own.map((each, index): SqsQueue => {
      const isLast = index === own.length - 1;
      // ElasticMQ loses a message that a FIFO queue would move to itself. AWS's behaviour is unknown, see the claim
      // self-dead-letter-queue.
      const leadsBack = isCircle && (own.length > 1 || !fifo);
      const next = isLast ? (leadsBack ? 0 : null) : index + 1;
      return {
        name: nameOf(index),
        role: "work",
        consumer: null,
        fifo,
        visibilityTimeoutSeconds: each.visibility,
        retentionSeconds: 1_209_600,
        delaySeconds: index === 0 ? each.delay : 0,
        receiveWaitSeconds: 0,
        encryption: { kind: "sqs" },
        redrive: next === null ? null : { deadQueue: nameOf(next), maxReceiveCount: each.count },
        redriveAllow: { permission: "byQueue", sourceQueues: own.map((_, source) => nameOf(source)) },
        sendersTopics: [],
      };
    });
    return { queues, actions };
  });

export function randomCourses(seed: number, count: number): readonly RandomCourse[] {
  return fc.sample(anyCourse, { seed, numRuns: count });
}

/** The states that the semantics still allows after the observations. Empty if it does not allow them. */
export interface Prediction {
  readonly states: readonly MessageState[];
  readonly after: (observation: Observation) => Prediction;
}

export function predictionFor({ queues }: Pick<RandomCourse, "queues">): Prediction {
  const semantics = semanticsOf({ queues, topics: [], subscriptions: [] });
  const [first] = queues;
  const message = first?.fifo === true ? { groupId: "group", deduplicationId: "id" } : {};
  const isIn = ({ place }: MessageState, name: string): boolean => place.kind === "queue" && place.queue === name;
  const step = (state: MessageState, event: SqsEvent): readonly MessageState[] => semantics.step(state, event).flat();
  const next = (state: MessageState, observation: Observation): readonly MessageState[] => {
    switch (observation.kind) {
      case "received": {
        const { queue: name, receiveCount } = observation;
        const outcomes = isIn(state, name) ? step(state, { kind: "receive" }) : [];
        // A timeout of 0 hides nothing, so a received message is still visible.
        const settled = outcomes.flatMap((each) =>
          hiddenSeconds(each) === 0 ? step(each, { kind: "visibility-passes" }) : [each],
        );
        if (receiveCount === null) {
          return outcomes.length === 0 ? [state] : settled.filter((each) => each.receiveCount === state.receiveCount);
        }
        return settled.filter((each) => each.receiveCount === receiveCount && receiveCount > state.receiveCount);
      }
      case "answered":
        if (semantics.refuses(state, observation.event) !== observation.refused) return [];
        return step(state, observation.event);
      case "waited": {
        const hidden = hiddenSeconds(state);
        if (state.place.kind === "queue" && state.place.status === "delayed")
          return step(state, { kind: "delay-passes" });
        return hidden !== null && hidden < longSeconds ? step(state, { kind: "visibility-passes" }) : [state];
      }
      case "found": {
        const { place } = state;
        return (place.kind === "queue" ? place.queue : null) === observation.queue ? [state] : [];
      }
      default:
        return observation satisfies never;
    }
  };
  const predict = (states: readonly MessageState[]): Prediction => ({
    states,
    after: (observation) => predict(distinct(states.flatMap((state) => next(state, observation)))),
  });
  return predict(semantics.send({ queue: first?.name ?? "", ...message }).flat());
}

function hiddenSeconds({ place }: MessageState): number | null {
  return place.kind === "queue" && place.status === "in-flight" ? place.visibility.toSeconds : null;
}

function distinct(states: readonly MessageState[]): readonly MessageState[] {
  return [...new Map(states.map((state) => [JSON.stringify(state), state])).values()];
}

/**
 * True if no message is about to become visible. Otherwise the result of a receive would depend on the machine's speed.
 */
export function isSettled({ states }: Prediction): boolean {
  return states.every((state) => {
    const isDelayed = state.place.kind === "queue" && state.place.status === "delayed";
    const hidden = hiddenSeconds(state);
    return !isDelayed && (hidden === null || hidden >= longSeconds);
  });
}

/** The first observation that the semantics does not allow; null if it allows them all. */
export function inexplicable(course: Pick<RandomCourse, "queues">, observations: readonly Observation[]) {
  let prediction = predictionFor(course);
  for (const [index, observation] of observations.entries()) {
    prediction = prediction.after(observation);
    if (prediction.states.length === 0) return index;
  }
  return null;
}
