import type { Exploration, Node } from "../explore/explore.ts";
import { isEnd, traceTo } from "../explore/explore.ts";
import type { Cause, Model } from "../explore/model.ts";
import type { Violation } from "./verify.ts";

/** What one copy goes through when every run of the handler ends in the same way. */
interface Course<State> {
  /** The attempt number of each run of the handler. */
  readonly runs: readonly number[];
  readonly last: Node<State>;
}

/** Exactly the declared attempts, then the dead queue, once. */
export function alwaysTransient<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { attempts } = model.wanted;
  return coursesOf(exploration, "transient").flatMap((course) => {
    const violation = (property: Violation["property"], message: string): Violation[] => [
      { consumer: model.consumer, property, message, trace: traceTo(model, exploration, course.last) },
    ];
    const seen = course.runs.join(", ");
    const wanted = attempts.map(({ attempt }) => attempt).join(", ");
    if (seen !== wanted)
      return violation("attempts", `a message that always fails is handled as attempt ${seen}; declared is ${wanted}`);
    if (course.last.situation.kind !== "dead")
      return violation("attempts", `a message that always fails does not end in the dead queue`);
    return [];
  });
}

/** As many deliveries as the crash budget has, then the dead queue. */
export function alwaysCrash<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  return coursesOf(exploration, "crash").flatMap((course) => {
    const isKept = course.runs.length === model.wanted.crashDeliveries && course.last.situation.kind === "dead";
    if (isKept) return [];
    return [
      {
        consumer: model.consumer,
        property: "crash" as const,
        message: `a message whose handler always crashes is delivered ${course.runs.length} times and is then ${course.last.situation.kind}; declared is ${model.wanted.crashDeliveries}`,
        trace: traceTo(model, exploration, course.last),
      },
    ];
  });
}

/** One course for each declared routing key; the exploration is finite and without loops, so each ends. */
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
    // An original that was acknowledged because its copy is safe is done; the copy is what goes on.
    const live = edge.to.filter((index) => nodes.get(index)?.situation.kind !== "done");
    const [next] = live;
    if (next === undefined || live.length > 1) break;
    node = nodes.get(next) as Node<State>;
  }
  return { runs, last: node };
}
