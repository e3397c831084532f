import type { Exploration, Node } from "../../../explore/explore.ts";
import { explore } from "../../../explore/explore.ts";
import { findLoop } from "../../../explore/loops.ts";
import type { Model } from "../../../explore/model.ts";
import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { AuditedQueue } from "../deployment.ts";
import { nameIn } from "../deployment.ts";
import type { LossCause, MessageState } from "../semantics.ts";
import { auditModel } from "./audit-model.ts";
import { timeText, windowSecondsOf } from "./redrive-window.ts";
import { circlesOf, wayOf } from "./redrive-ways.ts";
import type { Surroundings } from "./surroundings.ts";
import { loopText, wayTo } from "./way.ts";

/** What can become of the messages of one queue, found by looking at every way that one of them can take. */
export function fatesOf(queue: AuditedQueue, surroundings: Surroundings): Finding[] {
  if (queue.redrive === "untold" || (queue.redrive === null && surroundings.isDeadLetterQueue(queue))) return [];
  const model = auditModel(queue, surroundings);
  const exploration = explore(model);
  const lost = [...exploration.nodes.values()].filter(({ state }) => state.place.kind === "lost");
  const byCause = new Map(lost.toReversed().map((node) => [lossOf(node), node]));
  return [
    ...[...byCause].toReversed().flatMap(([, node]) => lossFinding(queue, exploration, node, surroundings)),
    ...endlessReceives(queue, model, exploration, surroundings),
  ];
}

/** Losses are told apart by their cause and by the queue that they happen in. */
function lossOf({ state: { place } }: Node<MessageState>): string {
  return place.kind === "lost" ? `${place.cause} ${place.queue}` : "";
}

/** What is lost on its way through another queue is found from that queue; only retention goes with the message. */
function lossFinding(
  queue: AuditedQueue,
  exploration: Exploration<MessageState>,
  node: Node<MessageState>,
  surroundings: Surroundings,
): Finding[] {
  const { place } = node.state;
  if (place.kind !== "lost") return [];
  const { cause } = place;
  if (cause === "retention") {
    const keeper = surroundings.queues.get(place.queue ?? "");
    return keeper === undefined || !isSureToReach(keeper, queue, surroundings)
      ? []
      : retentionFinding(queue, exploration, node, keeper);
  }
  const found = redriveProblems[cause];
  if (found === undefined || place.queue !== queue.arn || queue.redrive === "untold" || queue.redrive === null)
    return [];
  const target = nameText(nameIn(queue.redrive.targetArn));
  return [
    {
      code: found.code,
      queue: queue.name,
      predicate: `${found.predicate.replace("TARGET", target)}`,
      notes: [...wayTo(exploration, node), "AWS does not say what it does then: it may be received for ever instead"],
      help: found.help.replace("TARGET", target),
    },
  ];
}

const redriveProblems: Partial<Record<LossCause, Pick<Finding, "code" | "predicate" | "help">>> = {
  "missing-dead-queue": {
    code: "RD441",
    predicate: "has the dead-letter queue TARGET, which does not exist",
    help: "create TARGET again, or name another queue in the redrive policy",
  },
  "queue-type-mismatch": {
    code: "RD443",
    predicate: "has the dead-letter queue TARGET, which is of the other type",
    help: "name a dead-letter queue of the same type: FIFO for FIFO, standard for standard",
  },
  "redrive-not-allowed": {
    code: "RD452",
    predicate: "has the dead-letter queue TARGET, whose redrive-allow policy does not let it",
    help: "add the ARN of the queue to the sourceQueueArns of the redrive-allow policy of TARGET",
  },
};

/**
 * A dead-letter queue may let nobody in, as long as its redrive-allow policy is not told; and one in between may keep a message until it deletes it, as
 * long as it is not told how many receives move it, how long each takes, and how long it keeps one.
 */
function isSureToReach(keeper: AuditedQueue, queue: AuditedQueue, surroundings: Surroundings): boolean {
  const way = wayOf(queue, surroundings);
  const last = way.indexOf(keeper);
  return (
    way.slice(1, last + 1).every(({ redriveAllow }) => redriveAllow !== "untold") &&
    way.slice(1, last).every((each) => windowSecondsOf(each) !== null && each.retentionSeconds !== null)
  );
}

/** What the receives further along a chain of dead-letter queues take too long for is found from those. */
function retentionFinding(
  queue: AuditedQueue,
  exploration: Exploration<MessageState>,
  node: Node<MessageState>,
  keeper: AuditedQueue,
): Finding[] {
  const window = windowSecondsOf(queue);
  const { retentionSeconds: kept } = keeper;
  if (window === null || kept === null || window < kept) return [];
  // What its own queue deletes does not come to the dead-letter queue.
  if (keeper !== queue && window >= (queue.retentionSeconds ?? Number.POSITIVE_INFINITY)) return [];
  const where = keeper === queue ? "keeps a message" : `its dead-letter queue ${nameText(keeper.name)} keeps one`;
  return [
    {
      code: "RD449",
      queue: queue.name,
      predicate: `has retries that can take ${timeText(window)}, and ${where} for ${timeText(kept)}`,
      notes: [
        ...wayTo(exploration, node),
        "the time of a message starts when it is sent; on standard queues it goes on in the dead-letter queue",
      ],
      help: "raise the retention period, which can be 14 days, or lower maxReceiveCount or the visibility timeout",
    },
  ];
}

/** A queue whose messages nothing ever moves: only a success ends their receives, or their age. */
function endlessReceives(
  queue: AuditedQueue,
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
): Finding[] {
  const loop = findLoop(exploration);
  if (loop === undefined || queue.redrive !== null || model.consumer !== queue.arn) return [];
  if (!isForConsumer(queue, surroundings)) return [];
  const { retentionSeconds } = queue;
  return [
    {
      code: "RD440",
      queue: queue.name,
      predicate: "has no dead-letter queue",
      notes: [
        ...loopText(exploration, loop, () => "the queue"),
        ...(retentionSeconds === null ? [] : [`until it is ${timeText(retentionSeconds)} old: then it is deleted`]),
      ],
      help: "name a dead-letter queue in a redrive policy, with a maxReceiveCount of 5 or more",
    },
  ];
}

/**
 * A queue that names its source queues is meant to be a dead-letter queue. One that a topic may send to may be that of a subscription, as
 * long as it is not known what the subscriptions name.
 */
function isForConsumer({ redriveAllow, statements }: AuditedQueue, { knowsSubscriptions }: Surroundings): boolean {
  if (redriveAllow === "untold" || redriveAllow.permission === "byQueue") return false;
  return knowsSubscriptions || !JSON.stringify(statements).includes("sns.amazonaws.com");
}

/** Queues that are each other's dead-letter queues, each circle told once. */
export function endlessCircles(surroundings: Surroundings): Finding[] {
  return circlesOf(surroundings).flatMap((circle): Finding[] => {
    const [first, ...others] = circle;
    if (first === undefined) return [];
    const exploration = explore(auditModel(first, surroundings));
    const loop = findLoop(exploration);
    const names = new Intl.ListFormat("en").format(others.map(({ name }) => nameText(name)));
    return [
      {
        code: "RD444",
        queue: first.name,
        predicate: others.length === 0 ? "is its own dead-letter queue" : `gets back what it moves to ${names}`,
        notes: loop === undefined ? [] : loopText(exploration, loop),
        help: "take the redrive policy away from the queue where dead letters are to stay",
      },
    ];
  });
}
