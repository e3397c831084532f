import type { PromiseName } from "../brokers/broker.ts";
import type { Cause, Model, Situation, Subject } from "../explore/model.ts";
import type { Exploration, Node } from "../explore/explore.ts";
import { explore, restrict, traceTo } from "../explore/explore.ts";
import { findLoop, longestDeliveries } from "../explore/loops.ts";
import { alwaysCrash, alwaysTransient } from "./single-course.ts";
import { everyRetry } from "./retries.ts";

/** A property that does not hold, with the shortest way that shows it. */
export interface Violation {
  readonly consumer: string;
  readonly property: PromiseName | "declared" | "reachable";
  readonly message: string;
  readonly trace: readonly string[];
}

/** What was proved about one consumer, or what refutes it. */
export interface Verdict {
  readonly consumer: string;
  readonly states: number;
  /** The most deliveries that any course of one message causes, returns not counted. */
  readonly deliveries: number;
  readonly violations: readonly Violation[];
}

/** What a consumer may do that keeps its contract, and what happens without it. */
export const keptContract: ReadonlySet<Cause> = new Set([
  "success",
  "transient",
  "retry-after",
  "permanent",
  "crash",
  "return",
  "delivery",
  "time",
]);

/**
 * Proves the promises of every consumer, or refutes them. Of consumers that are the same but for names one is proved, and the
 * verdict holds for all; one that is refuted is not taken for others, so that each trace has its own names.
 */
export function verifyAll<State>(subjects: readonly Subject<State>[]): Verdict[] {
  const proved = new Map<string, Verdict>();
  return subjects.map(({ consumer, shape: shapeOf, model }) => {
    const shape = shapeOf();
    const known = proved.get(shape);
    if (known !== undefined) return { ...known, consumer };
    const verdict = verify(model());
    if (verdict.violations.length === 0) proved.set(shape, verdict);
    return verdict;
  });
}

/**
 * Proves the promises of one consumer, or refutes them: visits every state that a message can reach under every behaviour of
 * the consumer, and samples nothing. Loss and isolation must hold even where the consumer breaks its contract.
 */
export function verify<State>(model: Model<State>): Verdict {
  const flawed = (model.flaws ?? []).map((message): Violation => ({
    consumer: model.consumer,
    property: "declared",
    message,
    trace: [],
  }));
  if (flawed.length > 0) return { consumer: model.consumer, states: 0, deliveries: Number.NaN, violations: flawed };
  const broken = explore(model);
  const kept = restrict(broken, keptContract);
  const states = kept.nodes.size;
  const verdict = (deliveries: number, violations: readonly Violation[]): Verdict => ({
    consumer: model.consumer,
    states,
    deliveries,
    violations,
  });
  const unsafe = [
    ...reachable(model, kept),
    ...noLoss(model, broken),
    ...onlySuccessEnds(model, broken),
    ...isolation(model, broken),
    ...noLoop(model, kept),
    ...unattended(model, kept),
  ];
  // Courses are followed to their end only where there is one.
  if (unsafe.length > 0) return verdict(Number.NaN, unsafe);
  const deliveries = longestDeliveries(kept);
  return verdict(deliveries, [
    ...tooManyDeliveries(model, deliveries),
    ...alwaysTransient(model, kept),
    ...everyRetry(model, kept),
    ...alwaysCrash(model, kept),
    ...permanent(model, kept),
    ...success(model, kept),
    ...returned(model, kept),
  ]);
}

/** What is published arrives in the work queue, once, and nowhere else. */
function reachable<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { nodes, starts } = exploration;
  const kindOf = (index: number): string => nodes.get(index)?.situation.kind ?? "";
  return starts
    .filter((start) => start.nodes.length !== 1 || !start.nodes.every((index) => kindOf(index) === "work"))
    .map((start) => ({
      consumer: model.consumer,
      property: "reachable",
      message: start.nodes.some((index) => kindOf(index) === "work")
        ? `what is published as ${start.key} arrives in other places too`
        : `what is published as ${start.key} does not reach the work queue`,
      trace: start.nodes.flatMap((index) => traceTo(model, exploration, nodes.get(index) as Node<State>)),
    }));
}

/** The first node of a kind is the nearest to the start, since nodes are in the order in which they were reached. */
function firstOf<State, Kind extends Node<State>["situation"]["kind"]>(
  { nodes }: Exploration<State>,
  kind: Kind,
): { node: Node<State>; situation: Extract<Node<State>["situation"], { kind: Kind }> } | undefined {
  for (const node of nodes.values()) {
    const { situation } = node;
    if (situation.kind === kind) {
      return { node, situation: situation as Extract<Node<State>["situation"], { kind: Kind }> };
    }
  }
  return undefined;
}

/** Every way ends: nothing is lost, and nothing waits where it can wait for ever. */
function noLoss<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const violation = (message: string, node: Node<State>): Violation[] => [
    { consumer: model.consumer, property: "no-loss", message, trace: traceTo(model, exploration, node) },
  ];
  const lost = firstOf(exploration, "lost");
  if (lost !== undefined) return violation(`a message is lost: ${lost.situation.why}`, lost.node);
  for (const node of exploration.nodes.values()) {
    if (node.situation.kind === "waiting" && !node.edges.some(({ cause }) => cause === "time")) {
      return violation(`a message waits in ${model.placeOf(node.state)} for ever`, node);
    }
  }
  return [];
}

/** The broker cannot tell why a consumer has settled a message: one that has failed must not be gone, however it failed. */
function onlySuccessEnds<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { nodes } = exploration;
  for (const node of nodes.values()) {
    if (node.situation.kind !== "handling") continue;
    const edge = node.edges.find(
      ({ cause, to }) => cause !== "success" && to.every((index) => nodes.get(index)?.situation.kind === "done"),
    );
    if (edge === undefined) continue;
    const trace = [...traceTo(model, exploration, node), `${edge.label}: it is gone`];
    return [
      { consumer: model.consumer, property: "no-loss", message: "a message is gone that nobody has handled", trace },
    ];
  }
  return [];
}

function isolation<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const astray = firstOf(exploration, "astray");
  if (astray === undefined) return [];
  return [
    {
      consumer: model.consumer,
      property: "isolation",
      message: `a message of ${model.consumer} reaches ${astray.situation.consumer}`,
      trace: traceTo(model, exploration, astray.node),
    },
  ];
}

function noLoop<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const loop = findLoop(exploration);
  if (loop === undefined) return [];
  const [first] = loop;
  return [
    {
      consumer: model.consumer,
      property: "no-loop",
      message: `a message goes round without end: ${loop.map(({ label }) => label).join(", ")}`,
      trace:
        first === undefined
          ? []
          : [
              ...traceTo(model, exploration, first.node),
              ...loop.map(({ label, node }) => `again and again, ${label}: ${model.describe(node.state)}`),
            ],
    },
  ];
}

/** A message that nobody consumes stays in the work queue, however long that takes: its attempts are still to come. */
function unattended<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const node of exploration.nodes.values()) {
    if (node.situation.kind !== "work") continue;
    const edge = node.edges.find(({ cause }) => cause === "time");
    if (edge === undefined) continue;
    const message = `a message that nobody consumes leaves the work queue: ${edge.label}`;
    return [{ consumer: model.consumer, property: "attempts", message, trace: traceTo(model, exploration, node) }];
  }
  return [];
}

function tooManyDeliveries<State>({ consumer, wanted }: Model<State>, deliveries: number): Violation[] {
  if (deliveries <= wanted.maxDeliveries) return [];
  const message = `a message can be delivered ${deliveries} times; ${wanted.maxDeliveries} are promised`;
  return [{ consumer, property: "crash", message, trace: [] }];
}

/** A permanent failure of any attempt leaves the message dead at once. */
function permanent<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const isKept = (kinds: readonly string[]): boolean =>
    kinds.includes("dead") && kinds.every((kind) => kind === "dead" || kind === "done");
  const violation = {
    property: "permanent",
    message: "a permanent failure does not end in the dead queue",
  } as const;
  return otherEnd(model, exploration, "permanent", isKept, violation);
}

/** A success of any attempt is the end: neither the message nor a copy of it is there any more. */
function success<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const isKept = (kinds: readonly string[]): boolean => kinds.every((kind) => kind === "done");
  const violation = { property: "attempts", message: "a success is not the end of the message" } as const;
  return otherEnd(model, exploration, "success", isKept, violation);
}

/** The first attempt that can end in a way, and then leaves the message somewhere else; also one that cannot end so. */
function otherEnd<State>(
  model: Model<State>,
  exploration: Exploration<State>,
  cause: Cause,
  isKept: (kinds: readonly string[]) => boolean,
  violation: Pick<Violation, "property" | "message">,
): Violation[] {
  const { nodes } = exploration;
  const kindOf = (index: number): string => nodes.get(index)?.situation.kind ?? "";
  for (const node of nodes.values()) {
    if (node.situation.kind !== "handling") continue;
    const edges = node.edges.filter((edge) => edge.cause === cause);
    if (edges.length > 0 && edges.every(({ to }) => isKept(to.map(kindOf)))) continue;
    return [{ consumer: model.consumer, ...violation, trace: traceTo(model, exploration, node) }];
  }
  return [];
}

/**
 * What is handed back is in the work queue again as the same attempt, and at once. Where a broker counts it, it may instead come to what a
 * crash comes to.
 */
function returned<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const node of exploration.nodes.values()) {
    const { situation } = node;
    if (situation.kind !== "handling") continue;
    const back: Situation = { kind: "work", attempt: situation.attempt };
    const ends = situationsAfter(exploration, node, "return");
    const crashed = model.wanted.returnsCost ? situationsAfter(exploration, node, "crash") : new Set<string>();
    if (ends.size > 0 && [...ends].every((each) => each === JSON.stringify(back) || crashed.has(each))) continue;
    const message = `a message that is handed back on attempt ${situation.attempt} is not in the work queue again as that attempt`;
    return [{ consumer: model.consumer, property: "return", message, trace: traceTo(model, exploration, node) }];
  }
  return [];
}

/** Where a message is after a cause, at once and when its waiting is over. */
function situationsAfter<State>({ nodes }: Exploration<State>, from: Node<State>, cause: Cause): ReadonlySet<string> {
  const seen = new Set<string>();
  const visited = new Set<number>();
  const follow = (edges: Node<State>["edges"], by: Cause): void => {
    for (const index of edges.filter((edge) => edge.cause === by).flatMap(({ to }) => to)) {
      const node = nodes.get(index);
      if (node === undefined || visited.has(index)) continue;
      visited.add(index);
      seen.add(JSON.stringify(node.situation));
      if (node.situation.kind === "waiting") follow(node.edges, "time");
    }
  };
  follow(from.edges, cause);
  return seen;
}
