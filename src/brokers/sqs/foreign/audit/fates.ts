import { type Exploration, type Node, explore } from "../../../../explore/explore.ts";
import { findLoop } from "../../../../explore/loops.ts";
import type { Model } from "../../../../explore/model.ts";
import type { SqsFinding } from "./sentences.ts";
import { type AuditedQueue, known, nameIn } from "../deployment.ts";
import type { LossCause, MessageState } from "../../prove/semantics.ts";
import { auditModel } from "./audit-model.ts";
import { agesOnEntry, circlesOf, wayOf, windowSecondsOf } from "./redrive.ts";
import type { Surroundings } from "./surroundings.ts";
import { loopOf, wayTo } from "./way.ts";

/** Finds the possible fates of one queue's messages. The exploration has every way that a message can take. */
export function fatesOf(queue: AuditedQueue, surroundings: Surroundings): SqsFinding[] {
  if (queue.redrive === "untold" || (queue.redrive === null && surroundings.isDeadLetterQueue(queue))) return [];
  const model = auditModel(queue, surroundings);
  const exploration = explore(model);
  const lost = [...exploration.nodes.values()].filter(({ state }) => state.place.kind === "lost");
  // The first loss of each cause, and at each queue where it happens.
  const byCause = new Map(lost.toReversed().map((node) => [JSON.stringify(node.state.place), node]));
  return [
    ...[...byCause].toReversed().flatMap(([, node]) => lossFinding(queue, exploration, node, surroundings)),
    ...endlessReceives(queue, model, exploration, surroundings),
  ];
}

/**
 * Reports the losses in this queue. Another queue on the way reports its own losses. Loss by retention is the
 * exception, because the age goes with the message.
 */
function lossFinding(
  queue: AuditedQueue,
  exploration: Exploration<MessageState>,
  node: Node<MessageState>,
  surroundings: Surroundings,
): SqsFinding[] {
  const { place } = node.state;
  if (place.kind !== "lost") return [];
  const { cause } = place;
  if (cause === "retention") {
    const keeper = surroundings.queues.get(place.queue ?? "");
    return keeper === undefined || !isSureToReach(keeper, queue, surroundings)
      ? []
      : retentionFinding(queue, exploration, node, keeper, surroundings);
  }
  const code = redriveProblems[cause];
  const redrive = known(queue.redrive);
  if (code === undefined || place.queue !== queue.arn || redrive === null) return [];
  const target = nameIn(redrive.targetArn);
  const evidence = { way: wayTo(exploration, node) };
  return [
    code === "RD411"
      ? { code, subject: queue.name, facts: { topic: null, target }, evidence }
      : { code, subject: queue.name, facts: { target }, evidence },
  ];
}

const redriveProblems: Partial<Record<LossCause, "RD411" | "RD443" | "RD452">> = {
  "missing-dead-queue": "RD411",
  "queue-type-mismatch": "RD443",
  "redrive-not-allowed": "RD452",
};

/**
 * True if a message certainly reaches `keeper`. An unknown redrive-allow policy may let no message in. A queue in
 * between may delete the message first, if its receive count, its visibility timeout or its retention is unknown.
 */
function isSureToReach(keeper: AuditedQueue, queue: AuditedQueue, surroundings: Surroundings): boolean {
  const way = wayOf(queue, surroundings);
  const last = way.indexOf(keeper);
  return (
    way.slice(1, last + 1).every(({ redriveAllow }) => redriveAllow !== "untold") &&
    way.slice(1, last).every((each) => windowSecondsOf(each) !== null && each.retentionSeconds !== null)
  );
}

/**
 * Reports a message that is deleted by retention. If the receives of the later queues alone take too long, their own
 * queues report it.
 */
function retentionFinding(
  queue: AuditedQueue,
  exploration: Exploration<MessageState>,
  node: Node<MessageState>,
  keeper: AuditedQueue,
  surroundings: Surroundings,
): SqsFinding[] {
  const { retentionSeconds: kept } = keeper;
  if (kept === null) return [];
  const way = wayOf(queue, surroundings);
  const ages = agesOnEntry(way);
  // A queue before it may delete the message, so that the message never arrives.
  const before = way.slice(0, way.indexOf(keeper));
  if (before.some((each) => leavingAge(ages, each) >= (each.retentionSeconds ?? Number.POSITIVE_INFINITY))) return [];
  const ageOnEntry = ages.get(keeper.arn) ?? 0;
  const isOld = ageOnEntry >= kept;
  const window = isOld ? ageOnEntry : leavingAge(ages, keeper);
  if (window < kept) return [];
  if (keeper !== queue) {
    const withoutThis = agesOnEntry(way.slice(1));
    if ((isOld ? (withoutThis.get(keeper.arn) ?? 0) : leavingAge(withoutThis, keeper)) >= kept) return [];
  }
  return [
    {
      code: "RD449",
      subject: queue.name,
      facts: { windowSeconds: window, keptSeconds: kept, keeper: keeper === queue ? null : keeper.name },
      evidence: { way: wayTo(exploration, node) },
    },
  ];
}

/** The possible age of a message at the receive that moves it on. */
function leavingAge(ages: ReadonlyMap<string, number>, queue: AuditedQueue): number {
  return (ages.get(queue.arn) ?? 0) + (windowSecondsOf(queue) ?? 0);
}

/** Finds a queue that never moves its messages. Only a success or their age ends the receives. */
function endlessReceives(
  queue: AuditedQueue,
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
): SqsFinding[] {
  const loop = findLoop(exploration);
  if (loop === undefined || queue.redrive !== null || model.consumer !== queue.arn) return [];
  if (!isForConsumer(queue, surroundings)) return [];
  const { retentionSeconds, name } = queue;
  const evidence = { loop: loopOf(exploration, loop, () => "the queue"), retentionSeconds };
  return [{ code: "RD415", subject: name, facts: {}, evidence }];
}

/**
 * True if the queue is for a consumer. A queue that names its source queues is a dead-letter queue. If the
 * subscriptions are unknown, a queue that a topic may send to may be the dead-letter queue of one.
 */
function isForConsumer({ redriveAllow, statements }: AuditedQueue, { knowsSubscriptions }: Surroundings): boolean {
  if (redriveAllow === "untold" || redriveAllow.permission === "byQueue") return false;
  return knowsSubscriptions || !JSON.stringify(statements).includes("sns.amazonaws.com");
}

/** Finds queues that are each other's dead-letter queues. Each circle gives one finding. */
export function endlessCircles(surroundings: Surroundings): SqsFinding[] {
  return circlesOf(surroundings).flatMap((circle): SqsFinding[] => {
    const [first, ...others] = circle;
    if (first === undefined) return [];
    const exploration = explore(auditModel(first, surroundings));
    const loop = findLoop(exploration);
    return [
      {
        code: "RD444",
        subject: first.name,
        facts: { others: others.map(({ name }) => name) },
        evidence: { loop: loop === undefined ? null : loopOf(exploration, loop) },
      },
    ];
  });
}
