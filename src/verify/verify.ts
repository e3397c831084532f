import { type Cause, type Model, type Situation, type Subject, keptCauses } from "../explore/model.ts";
import { type Exploration, type Node, exploreForProof, restrict, traceTo } from "../explore/explore.ts";
import { findLoop, longestDeliveries } from "../explore/loops.ts";
import { alwaysCrash, alwaysTransient } from "./single-course.ts";
import { everyRetry } from "./retries.ts";
import { type Verdict, type Violation, nodesOf, proveEachShape, violationAt } from "./verdict.ts";

/** Proves or refutes the promises of every consumer. */
export function verifyAll<State>(subjects: readonly Subject<State>[]): Verdict[] {
  return proveEachShape(
    subjects,
    (model) => verify(model),
    ({ violations }) => violations.length === 0,
  );
}

/**
 * Proves or refutes the promises of one consumer. It visits every state that a message can reach under every behaviour
 * of the consumer, and samples nothing. It leaves out the middle of a long series of crashes, which brings nothing new;
 * see `skippingSeries`. Loss and isolation must hold even if the consumer breaks its contract.
 */
export function verify<State>(model: Model<State>, exploreOf = exploreForProof<State>): Verdict {
  const flawed = (model.flaws ?? []).map((message): Violation => ({
    consumer: model.consumer,
    property: "declared",
    message,
    trace: [],
  }));
  if (flawed.length > 0) return { consumer: model.consumer, states: 0, deliveries: Number.NaN, violations: flawed };
  const broken = exploreOf(model);
  const kept = restrict(broken, new Set(keptCauses));
  const states = kept.nodes.size;
  const verdict = (deliveries: number, violations: readonly Violation[]): Verdict => ({
    consumer: model.consumer,
    states,
    deliveries,
    violations,
  });
  const unsafe = safety(model, broken, kept);
  // The checks below follow courses to their end, and in an unsafe system a course may have none.
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

/**
 * The violations by which a message is lost, reaches another consumer, goes round or never gets its attempts.
 *
 * @param kept the part that consumers lead to if they keep their contracts
 * @param waysOn the causes that end the wait of a message. Elsewhere than with redrives only time does
 */
export function safety<State>(
  model: Model<State>,
  broken: Exploration<State>,
  kept: Exploration<State>,
  waysOn: readonly Cause[] = ["time"],
): readonly Violation[] {
  return [
    ...reachable(model, kept),
    ...noLoss(model, broken, waysOn),
    ...onlySuccessEnds(model, broken),
    ...isolation(model, broken),
    ...noLoop(model, kept),
    ...unattended(model, kept),
  ];
}

/** A published message must arrive in the work queue, once, and in no other queue. */
function reachable<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { nodes, starts } = exploration;
  const kindOf = (index: number): string => nodes.get(index)?.situation.kind ?? "";
  return starts
    .filter((start) => start.nodes.length !== 1 || !start.nodes.every((index) => kindOf(index) === "work"))
    .map((start) => ({
      consumer: model.consumer,
      property: "reachable",
      message: start.nodes.some((index) => kindOf(index) === "work")
        ? `a message published as ${start.key} also arrives elsewhere`
        : `a message published as ${start.key} does not reach the work queue`,
      trace: start.nodes.flatMap((index) => traceTo(model, exploration, nodes.get(index) as Node<State>)),
    }));
}

/** Every path must end: no message gets lost or waits for ever. */
function noLoss<State>(model: Model<State>, exploration: Exploration<State>, waysOn: readonly Cause[]): Violation[] {
  const violation = (message: string, node: Node<State>): Violation[] => [
    violationAt(model, exploration, node, "no-loss", message),
  ];
  for (const { node, situation } of nodesOf(exploration, "lost"))
    return violation(`a message is lost: ${situation.why}`, node);
  for (const { node } of nodesOf(exploration, "waiting")) {
    if (node.edges.some(({ cause }) => waysOn.includes(cause))) continue;
    return violation(`a message waits in ${model.placeOf(node.state)} for ever`, node);
  }
  return [];
}

/** The broker does not know why a consumer settles a message. So after any failure the message must still exist. */
function onlySuccessEnds<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { nodes } = exploration;
  for (const { node } of nodesOf(exploration, "handling")) {
    const edge = node.edges.find(
      ({ cause, to }) => cause !== "success" && to.every((index) => nodes.get(index)?.situation.kind === "done"),
    );
    if (edge === undefined) continue;
    const message = "a message is lost before a handler finished it";
    const violation = violationAt(model, exploration, node, "no-loss", message);
    return [{ ...violation, trace: [...violation.trace, `${edge.label}: it is gone`] }];
  }
  return [];
}

function isolation<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const { node, situation } of nodesOf(exploration, "astray")) {
    const message = `a message of ${model.consumer} reaches ${situation.consumer}`;
    return [violationAt(model, exploration, node, "isolation", message)];
  }
  return [];
}

function noLoop<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const loop = findLoop(exploration);
  const first = loop?.[0];
  if (loop === undefined || first === undefined) return [];
  const message = `a message goes round without end: ${loop.map(({ label }) => label).join(", ")}`;
  const violation = violationAt(model, exploration, first.node, "no-loop", message);
  const round = loop.map(({ label, node }) => `again and again, ${label}: ${model.describe(node.state)}`);
  return [{ ...violation, trace: [...violation.trace, ...round] }];
}

/** A message without a consumer must stay in the work queue for any time, because its attempts are still to come. */
function unattended<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const { node } of nodesOf(exploration, "work")) {
    const edge = node.edges.find(({ cause }) => cause === "time");
    if (edge === undefined) continue;
    const message = `a message leaves the work queue without a consumer: ${edge.label}`;
    return [violationAt(model, exploration, node, "attempts", message)];
  }
  return [];
}

function tooManyDeliveries<State>({ consumer, wanted }: Model<State>, deliveries: number): Violation[] {
  if (deliveries <= wanted.maxDeliveries) return [];
  const message = `a message can be delivered ${deliveries} times; ${wanted.maxDeliveries} are promised`;
  return [{ consumer, property: "crash", message, trace: [] }];
}

/** A permanent failure of any attempt must leave the message dead at once. */
function permanent<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const isKept = (kinds: readonly string[]): boolean =>
    kinds.includes("dead") && kinds.every((kind) => kind === "dead" || kind === "done");
  const node = otherEnd(exploration, "permanent", isKept);
  const message = "a permanent failure does not end in the dead queue";
  return node === null ? [] : [violationAt(model, exploration, node, "permanent", message)];
}

/** A success of any attempt must be the end: no copy of the message exists any more. */
function success<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const node = otherEnd(exploration, "success", (kinds) => kinds.every((kind) => kind === "done"));
  const message = "a success is not the end of the message";
  return node === null ? [] : [violationAt(model, exploration, node, "attempts", message)];
}

/**
 * Finds the first attempt that can end in this way and then leaves the message in a wrong place. It also finds an
 * attempt that cannot end in this way. Null if there is none.
 */
function otherEnd<State>(
  exploration: Exploration<State>,
  cause: Cause,
  isKept: (kinds: readonly string[]) => boolean,
): Node<State> | null {
  const kindOf = (index: number): string => exploration.nodes.get(index)?.situation.kind ?? "";
  for (const { node } of nodesOf(exploration, "handling")) {
    const edges = node.edges.filter((edge) => edge.cause === cause);
    if (edges.length === 0 || !edges.every(({ to }) => isKept(to.map(kindOf)))) return node;
  }
  return null;
}

/**
 * A returned message must be in the work queue again at once, as the same attempt. If the broker counts returns, the
 * result of a crash is allowed too.
 */
function returned<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const { node, situation } of nodesOf(exploration, "handling")) {
    const back: Situation = { kind: "work", attempt: situation.attempt };
    const ends = situationsAfter(exploration, node, "return");
    const crashed = model.wanted.returnsCost ? situationsAfter(exploration, node, "crash") : new Set<string>();
    if (ends.size > 0 && [...ends].every((each) => each === JSON.stringify(back) || crashed.has(each))) continue;
    const message = `a message that is returned on attempt ${situation.attempt} is not in the work queue again as that attempt`;
    return [violationAt(model, exploration, node, "return", message)];
  }
  return [];
}

/** The situations of a message after a cause: at once, and after its wait. */
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
