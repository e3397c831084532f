import type { Exploration, Node } from "../explore/explore.ts";
import { type Cause, type Model, isEnd } from "../explore/model.ts";
import { type Violation, violationAt } from "./verdict.ts";

/** The path of one copy when every run of the handler ends in the same way. */
interface Course<State> {
  /** The attempt number of each run of the handler. */
  readonly runs: readonly number[];
  readonly last: Node<State>;
}

/** A message that always fails must make exactly the declared attempts, then reach the dead queue, once. */
export function alwaysTransient<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { attempts } = model.wanted;
  return coursesOf(exploration, "transient").flatMap(({ runs, last }) => {
    const violation = (message: string): Violation[] => [violationAt(model, exploration, last, "attempts", message)];
    const seen = runs.join(", ");
    const wanted = attempts.map(({ attempt }) => attempt).join(", ");
    if (seen !== wanted)
      return violation(`a message that always fails is handled as attempt ${seen}; declared is ${wanted}`);
    return last.situation.kind === "dead"
      ? []
      : violation("a message that always fails does not end in the dead queue");
  });
}

/** A message that always crashes its handler must use up its crash budget, then reach the dead queue. */
export function alwaysCrash<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { crashDeliveries } = model.wanted;
  return coursesOf(exploration, "crash").flatMap(({ runs: { length }, last }) => {
    const { kind } = last.situation;
    if (length === crashDeliveries && kind === "dead") return [];
    const message = `a message whose handler always crashes is delivered ${length} times and is then ${kind}; declared is ${crashDeliveries}`;
    return [violationAt(model, exploration, last, "crash", message)];
  });
}

/** Gives one course for each declared routing key. The exploration is finite and without loops, so each course ends. */
function coursesOf<State>({ nodes, starts }: Exploration<State>, cause: Cause): Course<State>[] {
  return starts.flatMap((start) =>
    start.nodes
      .filter((index) => nodes.get(index)?.situation.kind === "work")
      .map((index) => follow(nodes, nodes.get(index) as Node<State>, cause)),
  );
}

function follow<State>(nodes: Exploration<State>["nodes"], start: Node<State>, cause: Cause): Course<State> {
  const runs: number[] = [];
  let node = start;
  while (!isEnd(node.situation)) {
    const { situation } = node;
    const wanted: Cause = situation.kind === "work" ? "delivery" : situation.kind === "handling" ? cause : "time";
    const edge = node.edges.find((each) => each.cause === wanted);
    if (edge === undefined) break;
    if (situation.kind === "handling") runs.push(situation.attempt);
    const attempt = runs.at(-1) ?? 0;
    for (let skipped = 0; skipped < edge.skipped; skipped++) runs.push(attempt);
    // An original acknowledged after its copy is safe is done. The course follows the copy.
    const live = edge.to.filter((index) => nodes.get(index)?.situation.kind !== "done");
    const [next] = live;
    if (next === undefined || live.length > 1) break;
    node = nodes.get(next) as Node<State>;
  }
  return { runs, last: node };
}
