import { describe, expect, test } from "vitest";

import type {
  Circumstances,
  MessageState,
  Outcome,
  Publication,
  SentMessage,
  SqsEvent,
} from "../../src/brokers/sqs/prove/semantics.ts";
import { semanticsOf } from "../../src/brokers/sqs/prove/semantics.ts";
import { type RuleName, rules } from "../support/sqs/rules.ts";
import type { SnsSubscription, SnsTopic, SqsQueue } from "../../src/brokers/sqs/compile/topology.ts";

type Topology = Parameters<typeof semanticsOf>[0];

function queue(name: string, given: Partial<SqsQueue> = {}): SqsQueue {
  return {
    name,
    role: "work",
    consumer: "billing",
    fifo: false,
    visibilityTimeoutSeconds: 30,
    retentionSeconds: 345_600,
    delaySeconds: 0,
    receiveWaitSeconds: 20,
    encryption: { kind: "sqs" },
    redrive: null,
    redriveAllow: { permission: "byQueue", sourceQueues: ["work", "middle", "dead"] },
    sendersTopics: ["orders"],
    ...given,
  };
}

const to = (deadQueue: string, maxReceiveCount = 2): Partial<SqsQueue> => ({ redrive: { deadQueue, maxReceiveCount } });
const fifo: Partial<SqsQueue> = { fifo: true };
const only = (...queues: readonly SqsQueue[]): Topology => ({ queues, topics: [], subscriptions: [] });
const pair = (work: Partial<SqsQueue> = {}, dead: Partial<SqsQueue> = {}): Topology =>
  only(queue("work", { ...to("dead"), ...work }), queue("dead", dead));

/** An event by its name or with its fields. A failed receive lets the message go, and its visibility timeout passes. */
type Move = SqsEvent | SqsEvent["kind"] | "failed receive";
const later = (toSeconds: number, elapsedSeconds = 0): SqsEvent => ({
  kind: "change-visibility",
  fromSeconds: toSeconds,
  toSeconds,
  elapsedSeconds,
});

/** Describes each place where a message can be after some moves. An impossible move ends its path. */
function ends(
  topology: Topology,
  moves: readonly Move[],
  circumstances: Circumstances = {},
  message: SentMessage = { queue: "work" },
): readonly string[] {
  return [...new Set(statesAfter(topology, moves, circumstances, message).map(inWords))];
}

function statesAfter(
  topology: Topology,
  moves: readonly Move[],
  circumstances: Circumstances = {},
  message: SentMessage = { queue: "work" },
): readonly MessageState[] {
  const semantics = semanticsOf(topology);
  const events = moves.flatMap((move): readonly SqsEvent[] => {
    if (typeof move !== "string") return [move];
    if (move === "failed receive") {
      return [{ kind: "receive" }, { kind: "let-go" }, { kind: "visibility-passes" }];
    }
    return [{ kind: move } as SqsEvent];
  });
  let states: readonly MessageState[] = semantics.send(message).flat();
  for (const event of events) states = states.flatMap((state) => semantics.step(state, event, circumstances).flat());
  return states;
}

function inWords({ place, receiveCount }: MessageState): string {
  switch (place.kind) {
    case "queue": {
      const { status } = place;
      if (status !== "in-flight") return `${status} in ${place.queue}, ${receiveCount}`;
      const { fromSeconds, toSeconds, since } = place.visibility;
      const seconds = fromSeconds === toSeconds ? toSeconds : `${fromSeconds}-${toSeconds}`;
      return `hidden in ${place.queue} for ${seconds} s from the ${since}, ${receiveCount}`;
    }
    case "deleted":
      return "deleted";
    case "lost":
      return `lost: ${place.cause}`;
    case "refused":
      return `refused: ${place.error}`;
    default:
      return place satisfies never;
  }
}

/** The places of a publication's copies, for each way in which it can end. */
function published(topology: Topology, publication: Partial<Publication> = {}, circumstances: Circumstances = {}) {
  const outcomes: readonly Outcome[] = semanticsOf(topology).publish(
    { topic: "orders", ...publication },
    circumstances,
  );
  return outcomes.map((copies) => copies.map(inWords));
}

const twice: readonly Move[] = ["failed receive", "failed receive"];
const held = "hidden in work for 30 s from the receive";
const inGroup: SentMessage = { queue: "work", groupId: "a", deduplicationId: "1" };
const topic = (given: Partial<SnsTopic> = {}): SnsTopic => ({
  name: "orders",
  source: "orders",
  fifo: false,
  ...given,
});
const subscription = (given: Partial<SnsSubscription> = {}): SnsSubscription => ({
  topic: "orders",
  queue: "work",
  consumer: "billing",
  filterPolicy: null,
  rawMessageDelivery: true,
  deadQueue: "undelivered",
  ...given,
});
const fanned = (given: Partial<Topology> = {}): Topology => ({
  queues: [queue("work"), queue("undelivered"), queue("other")],
  topics: [topic()],
  subscriptions: [subscription()],
  ...given,
});
const attributes = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`attribute-${index}`, "any"]));
const takenWith = (value: unknown, given: string | null): boolean | "unknown" => {
  const topology = fanned({ subscriptions: [subscription({ filterPolicy: { key: [value] } })] });
  const outcomes = published(topology, { attributes: given === null ? {} : { key: given } });
  return outcomes.length > 1 ? "unknown" : outcomes[0]?.[0] === "visible in work, 0";
};

/** One test for each claim. The compiler refuses a claim without one. */
const tests: Readonly<Record<RuleName, () => void>> = {
  "moves-on-next-receive": () => {
    expect(ends(pair(), ["failed receive", "receive"])).toEqual([`${held}, 2`]);
    expect(ends(pair(), [...twice, "receive"])).toEqual(["visible in dead, 2"]);
  },
  "unpolled-never-moves": () => {
    const [state] = statesAfter(pair(), twice);
    expect(inWords(state as MessageState)).toBe("visible in work, 2");
    const { step } = semanticsOf(pair());
    for (const kind of ["delay-passes", "visibility-passes"] as const) {
      expect(step(state as MessageState, { kind })).toEqual([]);
    }
  },
  "count-across-queues": () =>
    expect(ends(pair(), [...twice, "receive", "receive"])).toEqual(["hidden in dead for 30 s from the receive, 3"]),
  "success-ends-it": () => expect(ends(pair(), ["failed receive", "receive", "delete"])).toEqual(["deleted"]),
  "last-delivery-can-succeed": () => {
    expect(ends(pair(), ["failed receive", "receive", "delete", "receive"])).toEqual([]);
    expect(ends(pair(), ["failed receive", "receive", "delete"])).toEqual(["deleted"]);
  },
  "chain-delivers-in-the-middle": () => {
    const chain = only(queue("work", to("middle")), queue("middle", to("dead")), queue("dead"));
    expect(ends(chain, [...twice, "receive", "receive"])).toEqual([
      "visible in dead, 2",
      "hidden in middle for 30 s from the receive, 3",
    ]);
  },
  "cycle-delivers-on": () => {
    const cycle = only(queue("work", to("dead")), queue("dead", to("work")));
    expect(ends(cycle, [...twice, "receive", "receive"])).toEqual([
      "visible in work, 2",
      "hidden in dead for 30 s from the receive, 3",
    ]);
  },
  "self-dead-letter-queue": () => {
    const self = only(queue("work", to("work")));
    expect(ends(self, [...twice, "receive"])).toEqual(["visible in work, 2"]);
    expect(ends(self, [...twice, "receive", "receive"])).toEqual(["visible in work, 2", `${held}, 3`]);
  },
  "dead-queue-gone": () =>
    expect(ends(only(queue("work", to("nowhere"))), [...twice, "receive"])).toEqual([
      "lost: missing-dead-queue",
      `${held}, 3`,
    ]),
  "move-denied": () =>
    expect(ends(pair({}, { redriveAllow: { permission: "denyAll" } }), [...twice, "receive"])).toEqual([
      "lost: redrive-not-allowed",
      `${held}, 3`,
    ]),
  "move-by-others-denied": () => {
    const allowed = (...sourceQueues: readonly string[]): Topology =>
      pair({}, { redriveAllow: { permission: "byQueue", sourceQueues } });
    expect(ends(allowed("work"), [...twice, "receive"])).toEqual(["visible in dead, 2"]);
    expect(ends(allowed("other"), [...twice, "receive"])).toEqual(["lost: redrive-not-allowed", `${held}, 3`]);
  },
  "move-with-too-many-sources": () => {
    const sourceQueues = Array.from({ length: 11 }, (_, index) => `other-${index}`);
    const allowed = pair({}, { redriveAllow: { permission: "byQueue", sourceQueues } });
    expect(ends(allowed, [...twice, "receive"])).toEqual(["visible in dead, 2"]);
  },
  "move-to-standard": () =>
    expect(ends(pair(fifo), [...twice, "receive"], {}, inGroup)).toEqual(["lost: queue-type-mismatch", `${held}, 3`]),
  "move-to-fifo": () =>
    expect(ends(pair({}, fifo), [...twice, "receive"])).toEqual(["lost: queue-type-mismatch", `${held}, 3`]),
  "dead-queue-delay": () => {
    const delayed = pair({}, { delaySeconds: 5 });
    expect(ends(delayed, [...twice, "receive"])).toEqual(["delayed in dead, 2"]);
    expect(ends(delayed, [...twice, "receive", "receive"])).toEqual([]);
  },
  "retention-deletes": () => {
    expect(ends(pair(), ["expire"])).toEqual(["lost: retention"]);
    expect(ends(pair(), [...twice, "expire"])).toEqual(["lost: retention"]);
  },
  "retention-goes-on-in-dead-queue": () => {
    const moved = (ageSeconds: number): readonly string[] =>
      ends(pair({}, { retentionSeconds: 60 }), [...twice, "receive"], { ageSeconds });
    expect(moved(59)).toEqual(["visible in dead, 2"]);
    expect(moved(60)).toEqual(["lost: retention"]);
  },
  "fifo-retention-starts-again": () =>
    expect(
      ends(pair(fifo, { ...fifo, retentionSeconds: 60 }), [...twice, "receive"], { ageSeconds: 60 }, inGroup),
    ).toEqual(["visible in dead, 2"]),
  "retention-in-flight": () => expect(ends(pair(), ["receive", "expire"])).toEqual(["lost: retention"]),
  "visibility-from-receive": () => {
    expect(ends(pair(), ["receive"])).toEqual([`${held}, 1`]);
    expect(ends(pair(), ["receive", "let-go"])).toEqual([`${held}, 1`]);
    expect(ends(pair(), ["receive", "receive"])).toEqual([]);
    expect(ends(pair(), ["receive", "visibility-passes"])).toEqual(["visible in work, 1"]);
  },
  "changed-visibility-from-call": () =>
    expect(ends(pair(), ["receive", later(90, 20)])).toEqual(["hidden in work for 90 s from the call, 1"]),
  "changed-visibility-is-forgotten": () =>
    expect(ends(pair(), ["receive", later(90), "visibility-passes", "receive"])).toEqual([`${held}, 2`]),
  "visibility-zero-returns-at-once": () => expect(ends(pair(), ["receive", later(0)])).toEqual(["visible in work, 1"]),
  "change-beyond-12h": () => {
    expect(ends(pair(), ["receive", later(43_200)])).toEqual(["hidden in work for 43200 s from the call, 1"]);
    expect(ends(pair(), ["receive", later(43_201)])).toEqual([`${held}, 1`]);
  },
  "change-beyond-total-12h": () => {
    expect(ends(pair(), ["receive", later(43_190, 10)])).toEqual(["hidden in work for 43190 s from the call, 1"]);
    expect(ends(pair(), ["receive", later(43_191, 10)])).toEqual([`${held}, 1`]);
    const range: SqsEvent = { kind: "change-visibility", fromSeconds: 1, toSeconds: 43_191, elapsedSeconds: 10 };
    expect(ends(pair(), ["receive", range])).toEqual(["hidden in work for 1-43190 s from the call, 1", `${held}, 1`]);
  },
  "delete-after-visibility": () =>
    expect(ends(pair(), ["receive", "visibility-passes", "delete"])).toEqual(["deleted"]),
  "delete-with-older-receipt": () =>
    expect(ends(pair(), ["failed receive", "receive", { kind: "delete", receipt: "older" }])).toEqual([
      "deleted",
      `${held}, 2`,
    ]),
  "change-after-visibility": () =>
    expect(ends(pair(), ["receive", "visibility-passes", later(9)])).toEqual([
      "hidden in work for 9 s from the call, 1",
    ]),
  "queue-delay": () => {
    expect(ends(pair({ delaySeconds: 5 }), [])).toEqual(["delayed in work, 0"]);
    expect(ends(pair({ delaySeconds: 5 }), ["receive"])).toEqual([]);
    expect(ends(pair({ delaySeconds: 5 }), ["delay-passes"])).toEqual(["visible in work, 0"]);
  },
  "message-delay-overrides": () => {
    expect(ends(pair({ delaySeconds: 5 }), [], {}, { queue: "work", delaySeconds: 0 })).toEqual(["visible in work, 0"]);
    expect(ends(pair(), [], {}, { queue: "work", delaySeconds: 900 })).toEqual(["delayed in work, 0"]);
    expect(ends(pair(), [], {}, { queue: "work", delaySeconds: 901 })).toEqual(["refused: InvalidParameterValue"]);
  },
  "fifo-in-flight-blocks-group": () => {
    const topology = pair(fifo, fifo);
    expect(ends(topology, ["receive"], { blockedGroups: new Set(["a"]) }, inGroup)).toEqual([]);
    expect(ends(topology, ["receive"], { blockedGroups: new Set(["b"]) }, inGroup)).toEqual([`${held}, 1`]);
  },
  "fifo-dead-letter-frees-group": () => {
    const topology = pair(fifo, fifo);
    const [state] = statesAfter(topology, [...twice, "receive"], {}, inGroup);
    expect(inWords(state as MessageState)).toBe("visible in dead, 2");
  },
  "fifo-delete-after-visibility": () => {
    const topology = pair(fifo, fifo);
    expect(ends(topology, ["receive", "delete"], {}, inGroup)).toEqual(["deleted"]);
    expect(ends(topology, ["receive", "visibility-passes", "delete"], {}, inGroup)).toEqual(["visible in work, 1"]);
    const [state] = statesAfter(topology, ["receive", "visibility-passes"], {}, inGroup);
    expect(semanticsOf(topology).refuses(state as MessageState, { kind: "delete" })).toBe(true);
  },
  "fifo-change-after-visibility": () =>
    expect(ends(pair(fifo, fifo), ["receive", "visibility-passes", later(9)], {}, inGroup)).toEqual([
      "hidden in work for 9 s from the call, 1",
      "visible in work, 1",
    ]),
  "fifo-message-delay": () => {
    expect(ends(pair(fifo, fifo), [], {}, { ...inGroup, delaySeconds: 1 })).toEqual(["refused: InvalidParameterValue"]);
    const delayed = pair({ ...fifo, delaySeconds: 5 }, fifo);
    expect(ends(delayed, [], {}, { ...inGroup, delaySeconds: 0 })).toEqual(["delayed in work, 0"]);
  },
  "send-wants-its-queue": () =>
    expect(ends(pair(), [], {}, { queue: "nowhere" })).toEqual(["refused: QueueDoesNotExist"]),
  "fifo-send-wants-group": () => {
    expect(ends(pair(fifo, fifo), [])).toEqual(["refused: MissingParameter"]);
    expect(ends(pair(fifo, fifo), [], {}, { queue: "work", groupId: "a" })).toEqual(["refused: MissingParameter"]);
    expect(ends(pair(), [], {}, inGroup)).toEqual(["refused: InvalidParameterValue"]);
    expect(ends(pair(), [], {}, { queue: "work", groupId: "a" })).toEqual(["visible in work, 0"]);
  },
  "topic-reaches-all": () => {
    const both = fanned({ subscriptions: [subscription(), subscription({ queue: "other" })] });
    expect(published(both)).toEqual([["visible in work, 0", "visible in other, 0"]]);
    expect(published(fanned({ subscriptions: [] }))).toEqual([["lost: no-subscription"]]);
    expect(published(fanned(), { topic: "nowhere" })).toEqual([["refused: NotFound"]]);
  },
  "topic-filter": () => {
    const policy = { "routing-key": ["order.placed", "order.late"], region: ["eu"] };
    const topology = fanned({ subscriptions: [subscription({ filterPolicy: policy })] });
    const publishedWith = (attributes: Record<string, string>): unknown => published(topology, { attributes });
    expect(publishedWith({ "routing-key": "order.late", region: "eu", more: "1" })).toEqual([["visible in work, 0"]]);
    expect(publishedWith({ "routing-key": "order.late" })).toEqual([["lost: no-subscription"]]);
    expect(publishedWith({ "routing-key": "order", region: "eu" })).toEqual([["lost: no-subscription"]]);
  },
  "topic-filter-operators": () => {
    expect([takenWith({ prefix: "ab" }, "abc"), takenWith({ prefix: "ab" }, "ba")]).toEqual([true, false]);
    expect([takenWith({ suffix: "bc" }, "abc"), takenWith({ suffix: "bc" }, "bca")]).toEqual([true, false]);
    expect([takenWith({ exists: true }, null), takenWith({ exists: false }, null)]).toEqual([false, true]);
    expect([takenWith({ "anything-but": ["a"] }, "a"), takenWith({ "anything-but": "a" }, "b")]).toEqual([false, true]);
    expect([takenWith({ "anything-but": ["a"] }, null), takenWith({ "equals-ignore-case": "A" }, "a")]).toEqual([
      false,
      true,
    ]);
    expect([takenWith({ numeric: ["=", 1] }, "1"), takenWith({ cidr: "10.0.0.0/24" }, "10.0.0.1")]).toEqual([
      "unknown",
      "unknown",
    ]);
  },
  "topic-dead-letters": () => {
    const gone = fanned({ queues: [queue("undelivered")] });
    expect(published(gone)).toEqual([["visible in undelivered, 0"]]);
    expect(published(fanned(), {}, { unreachableQueues: new Set(["work"]) })).toEqual([["visible in undelivered, 0"]]);
    expect(published(fanned({ queues: [] }))).toEqual([["lost: undeliverable"]]);
  },
  "topic-raw-attributes": () => {
    expect(published(fanned(), { attributes: attributes(10) })).toEqual([["visible in work, 0"]]);
    expect(published(fanned(), { attributes: attributes(11) }).flat()).not.toContain("visible in work, 0");
  },
  "topic-raw-dead-letter": () => {
    const eleven = { attributes: attributes(11) };
    expect(published(fanned(), eleven)).toEqual([["visible in undelivered, 0"], ["lost: undeliverable"]]);
    expect(published(fanned({ queues: [queue("work")] }), eleven)).toEqual([["lost: undeliverable"]]);
  },
  "topic-wants-queue-policy": () => {
    const closed = queue("work", { sendersTopics: [] });
    expect(published(fanned({ queues: [closed, queue("undelivered")] }))).toEqual([["visible in undelivered, 0"]]);
    const both = [closed, queue("undelivered", { sendersTopics: [] })];
    expect(published(fanned({ queues: both }))).toEqual([["lost: undeliverable"]]);
  },
  "topic-types": () => {
    const queues = [queue("work", fifo), queue("undelivered", fifo)];
    expect(published(fanned({ queues }))).toEqual([["lost: undeliverable"]]);
    expect(published(fanned({ queues, topics: [topic({ fifo: true })] }), { groupId: "a" })).toEqual([
      ["visible in work, 0"],
    ]);
    expect(published(fanned({ topics: [topic({ fifo: true })] }), { groupId: "a" })).toEqual([["visible in work, 0"]]);
    const mixed = fanned({ queues: [queue("work"), queue("undelivered", fifo)], topics: [topic({ fifo: true })] });
    const unreachableQueues = new Set(["work"]);
    expect(published(mixed, { groupId: "a" }, { unreachableQueues })).toEqual([["lost: undeliverable"]]);
  },
  "fifo-topic-wants-group": () =>
    expect(published(fanned({ topics: [topic({ fifo: true })] }))).toEqual([["refused: InvalidParameter"]]),
};

describe("every claim about SQS", () => {
  test.for(Object.entries(tests))("%s", ([name, check]) => {
    check();
    expect(rules[name as RuleName].says).not.toBe("");
  });
});

test("a claim without a source says which part is assumed", () => {
  const assumed = Object.entries(rules).filter(([, claim]) => "assumed" in claim);
  expect(assumed.length).toBeGreaterThan(5);
  for (const [, { source }] of assumed) expect(source).toMatch(/no source|reports only|is assumed|Redeliver assumes/);
});

test("states that differ only in counts above every limit share a key, and others do not", () => {
  const semantics = semanticsOf(pair());
  const [state] = statesAfter(pair(), [...twice, "receive"]) as [MessageState];
  const key = semantics.behaviourKey(state);
  expect(semantics.behaviourKey({ ...state, receiveCount: 9 })).toBe(key);
  expect(semantics.behaviourKey({ ...state, receiveCount: 1 })).not.toBe(key);
  expect(semantics.behaviourKey({ ...state, receivesHere: 1 })).not.toBe(key);
});
