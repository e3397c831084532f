import type { Exploration, Node } from "./explore.ts";
import { isEnd, traceTo } from "./explore.ts";
import type { Cause, Model } from "../brokers/model.ts";
import type { Violation } from "./verify.ts";

/** What one copy goes through when every run of the handler ends in the same way. */
interface Course<State> {
  /** Each run of the handler, with the time that passed since the end of the one before. */
  readonly runs: readonly { readonly attempt: number; readonly waitedMs: number }[];
  readonly last: Node<State>;
}

/** Exactly the declared attempts, each not before its time, then the dead queue, once. */
export function alwaysTransient<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  const { attempts } = model.wanted;
  return coursesOf(exploration, "transient").flatMap((course) => {
    const violation = (property: Violation["property"], message: string): Violation[] => [
      { consumer: model.consumer, property, message, trace: traceTo(model, course.last) },
    ];
    const seen = course.runs.map(({ attempt }) => attempt).join(", ");
    const wanted = attempts.map(({ attempt }) => attempt).join(", ");
    if (seen !== wanted)
      return violation("attempts", `a message that always fails is handled as attempt ${seen}; declared is ${wanted}`);
    if (course.last.situation.kind !== "dead")
      return violation("attempts", `a message that always fails does not end in the dead queue`);
    const early = course.runs.find((run, index) => run.waitedMs < (attempts[index]?.delayMs ?? 0));
    if (early === undefined) return [];
    return violation(
      "timing",
      `attempt ${early.attempt} comes ${early.waitedMs} ms after the failure before; ${attempts[early.attempt - 1]?.delayMs} ms are declared`,
    );
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
        trace: traceTo(model, course.last),
      },
    ];
  });
}

/** One course for each declared routing key; the exploration is finite and without loops, so each ends. */
function coursesOf<State>({ nodes, starts }: Exploration<State>, cause: Cause): Course<State>[] {
  return starts.flatMap((start) =>
    start.nodes
      .filter((index) => nodes[index]?.situation.kind === "work")
      .map((index) => follow(nodes, nodes[index] as Node<State>, cause)),
  );
}

function follow<State>(nodes: readonly Node<State>[], start: Node<State>, cause: Cause): Course<State> {
  const runs: { attempt: number; waitedMs: number }[] = [];
  let waitedMs = 0;
  let node = start;
  while (!isEnd(node.situation)) {
    const { situation } = node;
    const wanted: Cause = situation.kind === "work" ? "delivery" : situation.kind === "handling" ? cause : "time";
    const edge = node.edges.find((each) => each.cause === wanted);
    if (edge === undefined) break;
    if (situation.kind === "handling") {
      runs.push({ attempt: situation.attempt, waitedMs });
      waitedMs = 0;
    }
    waitedMs += edge.waitedMs;
    // An original that was acknowledged because its copy is safe is done; the copy is what goes on.
    const live = edge.to.filter((index) => nodes[index]?.situation.kind !== "done");
    const [next] = live;
    if (next === undefined || live.length > 1) break;
    node = nodes[next] as Node<State>;
  }
  return { runs, last: node };
}
