import type { PromiseName } from "../brokers/broker.ts";
import type { Exploration, Node } from "./explore.ts";
import { explore, traceTo } from "./explore.ts";
import { findLoop, longestDeliveries } from "./loops.ts";
import type { Cause, Model } from "../brokers/model.ts";
import { alwaysCrash, alwaysTransient } from "./single-course.ts";

/** A property that does not hold, with the shortest way that shows it. */
export interface Violation {
  readonly consumer: string;
  readonly property: PromiseName | "reachable";
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

const keptContract: ReadonlySet<Cause> = new Set([
  "success",
  "transient",
  "permanent",
  "crash",
  "return",
  "delivery",
  "time",
]);
const brokenContract: ReadonlySet<Cause> = new Set([...keptContract, "nack-requeue", "reject"]);

/**
 * Proves the promises of one consumer, or refutes them: visits every state that a message can reach under every behaviour of
 * the consumer, and samples nothing. Loss and isolation must hold even where the consumer breaks its contract.
 */
export function verify<State>(model: Model<State>): Verdict {
  const kept = explore(model, keptContract);
  const broken = explore(model, brokenContract);
  const violations: Violation[] = [
    ...reachable(model, kept),
    ...noLoss(model, broken),
    ...isolation(model, broken),
    ...noLoop(model, kept),
  ];
  // Courses are followed to their end only where there is one.
  if (violations.length > 0)
    return { consumer: model.consumer, states: kept.nodes.length, deliveries: Number.NaN, violations };
  const deliveries = longestDeliveries(kept);
  if (deliveries > model.wanted.maxDeliveries) {
    violations.push({
      consumer: model.consumer,
      property: "crash",
      message: `a message can be delivered ${deliveries} times; ${model.wanted.maxDeliveries} are promised`,
      trace: [],
    });
  }
  violations.push(...alwaysTransient(model, kept), ...alwaysCrash(model, kept), ...permanent(model, kept));
  return { consumer: model.consumer, states: kept.nodes.length, deliveries, violations };
}

function reachable<State>(model: Model<State>, { nodes, starts }: Exploration<State>): Violation[] {
  return starts
    .filter((start) => !start.nodes.some((index) => nodes[index]?.situation.kind === "work"))
    .map((start) => ({
      consumer: model.consumer,
      property: "reachable",
      message: `what is published as ${start.key} does not reach the work queue`,
      trace: start.nodes.map((index) => `published: ${model.describe((nodes[index] as Node<State>).state)}`),
    }));
}

/** The first state that is found is the nearest to the start, since nodes are in the order in which they were reached. */
function noLoss<State>(model: Model<State>, { nodes }: Exploration<State>): Violation[] {
  const lost = nodes.find((node) => node.situation.kind === "lost");
  if (lost === undefined || lost.situation.kind !== "lost") return [];
  return [
    {
      consumer: model.consumer,
      property: "no-loss",
      message: `a message is lost: ${lost.situation.why}`,
      trace: traceTo(model, lost),
    },
  ];
}

function isolation<State>(model: Model<State>, { nodes }: Exploration<State>): Violation[] {
  const astray = nodes.find((node) => node.situation.kind === "astray");
  if (astray === undefined || astray.situation.kind !== "astray") return [];
  return [
    {
      consumer: model.consumer,
      property: "isolation",
      message: `a message of ${model.consumer} reaches ${astray.situation.consumer}`,
      trace: traceTo(model, astray),
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
              ...traceTo(model, first.node),
              ...loop.map(({ label, node }) => `again and again, ${label}: ${model.describe(node.state)}`),
            ],
    },
  ];
}

/** A permanent failure of the first attempt leaves the message dead at once. */
function permanent<State>(model: Model<State>, { nodes }: Exploration<State>): Violation[] {
  return nodes
    .filter((node) => node.situation.kind === "handling")
    .flatMap((node) => {
      const edges = node.edges.filter((edge) => edge.cause === "permanent");
      const isKept =
        edges.length > 0 &&
        edges.every(
          (edge) =>
            edge.to.some((index) => nodes[index]?.situation.kind === "dead") &&
            edge.to.every((index) => ["dead", "done"].includes(nodes[index]?.situation.kind ?? "")),
        );
      return isKept
        ? []
        : [
            {
              consumer: model.consumer,
              property: "permanent" as const,
              message: "a permanent failure does not end in the dead queue",
              trace: traceTo(model, node),
            },
          ];
    })
    .slice(0, 1);
}
