import { describe, expect, test } from "vitest";

import type {
  Circumstances,
  MessageContent,
  MessageState,
  SentMessage,
  ServicebusEvent,
} from "../../src/brokers/servicebus/prove/semantics.ts";
import { semanticsOf } from "../../src/brokers/servicebus/prove/semantics.ts";
import { type ClaimName, claims } from "../support/servicebus/claims.ts";
import type {
  RuleFilter,
  ServicebusQueue,
  ServicebusSubscription,
  ServicebusTopic,
} from "../../src/brokers/servicebus/compile/topology.ts";
import { inWords } from "../support/servicebus/state-in-words.ts";

type Topology = Parameters<typeof semanticsOf>[0];

const entity = {
  consumer: "billing",
  lockDurationMs: 60_000,
  maxDeliveryCount: 2,
  timeToLiveMs: null,
  deadLetterOnExpiration: true,
  requiresSession: false,
  forwardTo: null,
  forwardDeadLetteredTo: null,
} as const;

function queue(name: string, given: Partial<ServicebusQueue> = {}): ServicebusQueue {
  return { ...entity, kind: "queue", name, role: "work", duplicateDetectionMs: null, ...given };
}

function subscription(name: string, given: Partial<ServicebusSubscription> = {}): ServicebusSubscription {
  return { ...entity, kind: "subscription", topic: "orders", name, deadLetterOnFilterError: true, rules: [], ...given };
}

const rule = (filter: RuleFilter, name = "$Default"): Partial<ServicebusSubscription> => ({
  rules: [{ name, filter }],
});
const topic: ServicebusTopic = { name: "orders", source: "orders", timeToLiveMs: null, duplicateDetectionMs: null };
const only = (...queues: readonly ServicebusQueue[]): Topology => ({ queues, topics: [], subscriptions: [] });
const fanned = (...subscriptions: readonly ServicebusSubscription[]): Topology => ({
  queues: [queue("work")],
  topics: [topic],
  subscriptions,
});

const content: MessageContent = { messageId: "1", sessionId: null, subject: "order.placed", properties: {} };
const inSession: MessageContent = { ...content, sessionId: "a" };
const sent = (given: Partial<SentMessage> = {}): SentMessage => ({
  to: "work",
  content,
  timeToLiveMs: null,
  scheduled: false,
  ...given,
});

type Move = ServicebusEvent["kind"] | "failed delivery";

function statesAfter(
  topology: Topology,
  moves: readonly Move[],
  message: Partial<SentMessage> = {},
  circumstances: Circumstances = {},
): readonly MessageState[] {
  const semantics = semanticsOf(topology);
  let states: readonly MessageState[] = semantics.send(sent(message)).flat();
  const kinds = moves.flatMap((move) => (move === "failed delivery" ? (["deliver", "abandon"] as const) : [move]));
  for (const kind of kinds) states = states.flatMap((state) => semantics.step(state, { kind }, circumstances).flat());
  return states;
}

/** Describes each place where a message can be after some moves. An impossible move ends its path. */
function ends(...given: Parameters<typeof statesAfter>): readonly string[] {
  return [...new Set(statesAfter(...given).map(inWords))];
}

/** The places of a message's copies, for each way in which its sending can end. */
function arrivals(topology: Topology, message: Partial<SentMessage> = {}, circumstances: Circumstances = {}) {
  return semanticsOf(topology)
    .send(sent(message), circumstances)
    .map((copies) => copies.map(inWords));
}

const work = only(queue("work"));
const exceeded = "active in the dead letters of work (MaxDeliveryCountExceeded), 2";
const sessionWork = only(queue("work", { requiresSession: true }));
const toDead = (given: Partial<ServicebusQueue> = {}, dead: Partial<ServicebusQueue> = {}): Topology =>
  only(queue("work", { forwardDeadLetteredTo: "dead", ...given }), queue("dead", dead));
/** A chain of queues. Each forwards to the next. */
const chain = (length: number): Topology =>
  only(
    ...Array.from({ length }, (_, index) =>
      queue(index === 0 ? "work" : `queue-${index}`, { forwardTo: index === length - 1 ? null : `queue-${index + 1}` }),
    ),
  );
/** The subjects that a rule lets in. */
const letIn = (filter: RuleFilter, ...subjects: readonly (string | null)[]): readonly (string | null)[] =>
  subjects.filter((subject) => {
    const outcomes = arrivals(fanned(subscription("billing", rule(filter))), {
      to: "orders",
      content: { ...content, subject },
    });
    return outcomes.length === 1 && outcomes[0]?.[0]?.startsWith("active") === true;
  });
const sql = (expression: string): RuleFilter => ({ kind: "sql", expression });

/** One test for each claim. The compiler refuses a claim without one. */
const tests: Readonly<Record<ClaimName, () => void>> = {
  "count-on-abandon": () => expect(ends(work, ["failed delivery"])).toEqual(["active in work, 1"]),
  "release-is-not-counted": () => {
    expect(ends(work, ["deliver", "release"])).toEqual(["active in work, 0", "active in work, 1"]);
    expect(ends(work, ["failed delivery", "deliver", "release"])).toEqual(["active in work, 1", exceeded]);
    expect(ends(sessionWork, ["deliver", "release"], { content: inSession })[0]).toBe("active in work, 0");
  },
  "count-on-lock-expiry": () => {
    expect(ends(work, ["deliver", "lock-expires"])).toEqual(["active in work, 1"]);
    expect(ends(sessionWork, ["deliver", "lock-expires"], { content: inSession })).toEqual(["active in work, 1"]);
  },
  "dead-after-max-delivery-count": () => {
    expect(ends(work, ["failed delivery", "failed delivery"])).toEqual([exceeded]);
    expect(ends(work, ["failed delivery", "deliver", "lock-expires"])).toEqual([exceeded]);
    expect(ends(work, ["failed delivery", "deliver", "complete"])).toEqual(["completed"]);
  },
  "session-close-is-not-counted": () => {
    expect(ends(sessionWork, ["deliver", "session-closes"], { content: inSession })).toEqual(["active in work, 0"]);
    expect(ends(work, ["deliver", "session-closes"])).toEqual([]);
  },
  "session-outlives-its-connection": () =>
    expect(ends(sessionWork, ["deliver", "lock-expires", "deliver", "session-closes"], { content: inSession })).toEqual(
      ["active in work, 1"],
    ),
  "late-settlement-is-refused": () => {
    for (const kind of ["complete", "abandon", "release", "dead-letter", "defer", "renew-lock"] as const) {
      expect(ends(work, ["deliver", "lock-expires", kind])).toEqual([]);
      expect(ends(work, ["deliver", "renew-lock", kind])).not.toEqual([]);
    }
  },
  "defer-counts": () => {
    expect(ends(work, ["deliver", "defer"])).toEqual(["deferred in work, 1"]);
    expect(ends(work, ["deliver", "defer", "deliver"])).toEqual([]);
    expect(ends(work, ["deliver", "defer", "receive-deferred", "complete"])).toEqual(["completed"]);
  },
  "defer-at-the-limit": () =>
    expect(ends(work, ["failed delivery", "deliver", "defer"])).toEqual(["deferred in work, 2", exceeded]),
  "receive-and-delete-forgets": () =>
    expect(ends(work, ["receive-and-delete"])).toEqual(["lost: received-and-deleted"]),
  "dead-letters-stay": () => {
    const dead = ["deliver", "dead-letter"] as const;
    const there = "active in the dead letters of work (by-consumer), 0";
    expect(ends(work, dead, { timeToLiveMs: 1 })).toEqual([there]);
    expect(ends(work, [...dead, "expire"], { timeToLiveMs: 1 })).toEqual([]);
    expect(ends(work, [...dead, "failed delivery", "failed delivery", "failed delivery"])).toEqual([there]);
    expect(ends(work, [...dead, "deliver", "dead-letter", "abandon"])).toEqual([there]);
    expect(ends(work, [...dead, "deliver", "defer", "receive-deferred", "complete"])).toEqual(["completed"]);
  },
  "dead-letters-are-forwarded": () => {
    expect(ends(toDead(), ["deliver", "dead-letter"])).toEqual(["active in dead, 0, forwarded 1", "active in dead, 0"]);
  },
  "dead-letters-wait-for-a-closed-queue": () => {
    const semantics = semanticsOf(toDead());
    const [state] = statesAfter(toDead(), ["deliver", "dead-letter"], {}, { closed: new Set(["dead"]) });
    expect(inWords(state as MessageState)).toBe("active in the dead letters of work (by-consumer), 0");
    expect(semantics.spontaneousEvents(state as MessageState)).toEqual([{ kind: "forward" }]);
    expect(semantics.step(state as MessageState, { kind: "deliver" })).toEqual([]);
    const [[on] = []] = semantics.step(state as MessageState, { kind: "forward" });
    expect(inWords(on as MessageState)).toBe("active in dead, 0, forwarded 1");
  },
  "count-after-dead-letter-forwarding": () =>
    expect(ends(toDead({ maxDeliveryCount: 1 }), ["failed delivery"])).toEqual([
      "active in dead, 0, forwarded 1",
      "active in dead, 1, forwarded 1",
      "active in dead, 0",
      "active in dead, 1",
    ]),
  "shorter-time-to-live-counts": () => {
    const short = only(queue("work", { timeToLiveMs: 5_000 }));
    expect(statesAfter(short, [], { timeToLiveMs: 9_000 })[0]?.timeToLiveMs).toBe(5_000);
    expect(statesAfter(short, [], { timeToLiveMs: 1_000 })[0]?.timeToLiveMs).toBe(1_000);
    expect(statesAfter(short, [])[0]?.timeToLiveMs).toBe(5_000);
    expect(statesAfter(work, [])[0]?.timeToLiveMs).toBeNull();
  },
  "expiry-dead-letters": () => {
    expect(ends(work, ["expire"], { timeToLiveMs: 1 })).toEqual([
      "active in the dead letters of work (TTLExpiredException), 0",
    ]);
    const dropping = only(queue("work", { deadLetterOnExpiration: false }));
    expect(ends(dropping, ["expire"], { timeToLiveMs: 1 })).toEqual(["lost: expired"]);
  },
  "expiry-is-lazy": () => {
    const [state] = statesAfter(work, [], { timeToLiveMs: 1 });
    expect(semanticsOf(work).spontaneousEvents(state as MessageState)).toEqual([{ kind: "expire" }]);
    expect(ends(work, ["expire"])).toEqual([]);
  },
  "expiry-waits-for-the-lock": () => {
    const mortal = { timeToLiveMs: 1 };
    const over = { isExpired: true };
    const dead = (count: number): string => `active in the dead letters of work (TTLExpiredException), ${count}`;
    expect(ends(work, ["deliver", "expire"], mortal)).toEqual([]);
    expect(ends(work, ["deliver", "abandon"], mortal, over)).toEqual([dead(1)]);
    expect(ends(work, ["deliver", "lock-expires"], mortal, over)).toEqual([dead(1)]);
    expect(ends(work, ["deliver", "abandon"], {}, over)).toEqual(["active in work, 1"]);
    expect(ends(work, ["deliver", "defer", "expire"], mortal)).toEqual([]);
    expect(ends(work, ["deliver", "defer", "receive-deferred"], mortal, over)).toEqual([dead(1)]);
    expect(ends(work, ["expire"], { ...mortal, scheduled: true })).toEqual([]);
  },
  "no-expiry-while-forwarding": () => {
    const forwarding = only(queue("work", { forwardTo: "next", timeToLiveMs: 5 }), queue("next"));
    expect(statesAfter(forwarding, [])[0]?.timeToLiveMs).toBeNull();
  },
  "time-to-live-is-carried": () => {
    const tier = only(queue("work", { timeToLiveMs: 5_000, forwardDeadLetteredTo: "next" }), queue("next"));
    const [state] = statesAfter(tier, ["expire"]);
    expect(inWords(state as MessageState)).toBe("active in next, 0, forwarded 1");
    expect(state?.timeToLiveMs).toBe(5_000);
    expect(semanticsOf(tier).spontaneousEvents(state as MessageState)).toEqual([{ kind: "expire" }]);
  },
  "four-hops": () => {
    expect(ends(chain(5), [])).toEqual(["active in queue-4, 0, forwarded 4"]);
    const stays = "active in the dead letters of queue-4 (MaxTransferHopCountExceeded), 0, forwarded 4";
    expect(ends(chain(6), [])).toEqual([stays]);
    const { queues } = chain(6);
    const watched = only(...queues.map((each) => ({ ...each, forwardDeadLetteredTo: "dead" })), queue("dead"));
    expect(ends(watched, [])).toEqual([stays]);
    const ring = only(queue("work", { forwardTo: "next" }), queue("next", { forwardTo: "work" }));
    expect(ends(ring, [])).toEqual([
      "active in the dead letters of work (MaxTransferHopCountExceeded), 0, forwarded 4",
    ]);
  },
  "dead-letter-hops": () => {
    const { queues } = chain(5);
    const last = only(
      ...queues.map((each) => ({ ...each, ...(each.forwardTo === null ? { forwardDeadLetteredTo: "dead" } : {}) })),
      queue("dead"),
    );
    expect(ends(last, ["deliver", "dead-letter"])).toEqual([
      "active in the dead letters of queue-4 (MaxTransferHopCountExceeded), 0, forwarded 4",
      "active in dead, 0, forwarded 4",
    ]);
  },
  "closed-destination-dead-letters": () => {
    const failed = [["active in the dead letters of work (forward-failed), 0"]];
    expect(arrivals(chain(2), {}, { closed: new Set(["queue-1"]) })).toEqual(failed);
    expect(arrivals(only(queue("work", { forwardTo: "nowhere" })))).toEqual(failed);
  },
  "sessions-are-not-forwarded": () => {
    const failed = ["active in the dead letters of work (forward-failed), 0"];
    const out = only(queue("work", { requiresSession: true, forwardTo: "next" }), queue("next"));
    expect(ends(out, [], { content: inSession })).toEqual(failed);
  },
  "forwarded-into-sessions": () => {
    const into = only(queue("work", { forwardTo: "next" }), queue("next", { requiresSession: true }));
    expect(ends(into, [], { content: inSession })).toEqual(["active in next, 0, forwarded 1"]);
    expect(ends(into, [])).toEqual(["active in the dead letters of work (forward-failed), 0"]);
  },
  "session-wanted": () =>
    expect(ends(sessionWork, [])).toEqual(["active in the dead letters of work (Session ID is null.), 0"]),
  "send-wants-its-entity": () => {
    expect(arrivals(work, { to: "nowhere" })).toEqual([["refused: MessagingEntityNotFound"]]);
    expect(arrivals(work, {}, { closed: new Set(["work"]) })).toEqual([["refused: MessagingEntityDisabled"]]);
    const path = "orders/Subscriptions/billing";
    expect(arrivals(fanned(subscription("billing")), { to: path })).toEqual([["refused: MessagingEntityNotFound"]]);
  },
  "too-large-is-refused": () => {
    const refused = [["refused: MessageSizeExceeded"]];
    expect(arrivals(work, {}, { isTooLarge: true })).toEqual(refused);
    expect(arrivals(work, { scheduled: true }, { isTooLarge: true })).toEqual(refused);
  },
  "forwarding-entity-takes": () => {
    expect(ends(chain(2), [])).toEqual(["active in queue-1, 0, forwarded 1"]);
    expect(ends(chain(2), ["schedule-due"], { scheduled: true })).toEqual(["active in queue-1, 0, forwarded 1"]);
  },
  "duplicates-are-dropped": () => {
    const detecting = only(queue("work", { duplicateDetectionMs: 60_000 }));
    const known: Circumstances = { isKnown: (name, messageId) => name === "work" && messageId === "1" };
    expect(arrivals(detecting, {}, known)).toEqual([["lost: duplicate"]]);
    expect(arrivals(detecting, { scheduled: true }, known)).toEqual([["lost: duplicate"]]);
    expect(arrivals(detecting, { content: { ...content, messageId: "1:r2" } }, known)).toEqual([["active in work, 0"]]);
    expect(arrivals(work, {}, known)).toEqual([["active in work, 0"]]);
    expect(ends(detecting, ["schedule-due"], { scheduled: true }, known)).toEqual(["active in work, 0"]);
    const topics = { ...fanned(), topics: [{ ...topic, duplicateDetectionMs: 1 }] };
    expect(arrivals(topics, { to: "orders" }, { isKnown: () => true })).toEqual([["lost: duplicate"]]);
  },
  "forwarded-duplicates-are-dropped": () => {
    const forwarding = only(queue("work", { forwardTo: "next" }), queue("next", { duplicateDetectionMs: 60_000 }));
    expect(arrivals(forwarding, {}, { isKnown: () => true })).toEqual([["lost: duplicate"]]);
  },
  "scheduled-is-a-new-message": () => {
    expect(ends(work, [], { scheduled: true })).toEqual(["scheduled in work, 0"]);
    expect(ends(work, ["deliver"], { scheduled: true })).toEqual([]);
    expect(ends(work, ["schedule-due"], { scheduled: true })).toEqual(["active in work, 0"]);
    expect(ends(work, ["schedule-due", "schedule-due"], { scheduled: true })).toEqual([]);
    expect(ends(work, ["cancel"], { scheduled: true })).toEqual(["lost: cancelled"]);
  },
  "topic-reaches-all": () => {
    const twice = {
      rules: [
        { name: "a", filter: { kind: "true" } },
        { name: "b", filter: { kind: "true" } },
      ],
    } as const;
    const forwarding = subscription("shipping", { ...rule({ kind: "true" }), forwardTo: "work" });
    expect(arrivals(fanned(subscription("billing", twice), forwarding), { to: "orders" })).toEqual([
      ["active in orders/Subscriptions/billing, 0", "active in work, 0, forwarded 1"],
    ]);
    expect(arrivals(fanned(subscription("billing")), { to: "orders" })).toEqual([["lost: no-subscription"]]);
  },
  "rules-compare": () => {
    expect(letIn({ kind: "correlation", subject: "order.placed" }, "order.placed", "Order.placed", null)).toEqual([
      "order.placed",
    ]);
    expect(letIn({ kind: "false" }, "order.placed", null)).toEqual([]);
    expect(letIn({ kind: "true" }, "order.placed", null)).toEqual(["order.placed", null]);
  },
  "sql-compares": () => {
    const subjects = ["order", "order.placed", "order.placed.late", "orders", "50%", null] as const;
    expect(letIn(sql("sys.Label LIKE 'order.%' AND NOT sys.Label LIKE '%.%.%'"), ...subjects)).toEqual([
      "order.placed",
    ]);
    expect(letIn(sql("sys.Label = 'order' OR (sys.Label LIKE 'order.%')"), ...subjects)).toEqual([
      "order",
      "order.placed",
      "order.placed.late",
    ]);
    expect(letIn(sql("sys.Label NOT LIKE 'order%'"), ...subjects)).toEqual(["50%"]);
    expect(letIn(sql("sys.Label LIKE '50\\%' ESCAPE '\\'"), "50%", "500")).toEqual(["50%"]);
    expect(letIn(sql("sys.Label LIKE 'order_'"), ...subjects)).toEqual(["orders"]);
    expect(letIn(sql("sys.Label IN ('order', 'it''s')"), "order", "it's", "x")).toEqual(["order", "it's"]);
    expect(letIn(sql("sys.Label <> 'order'"), "order", "x", null)).toEqual(["x"]);
    expect(letIn(sql("sys.Label IS NULL"), "order", null)).toEqual([null]);
    expect(letIn(sql("sys.Label IS NOT NULL"), "order", null)).toEqual(["order"]);
    expect(letIn(sql("1=1"), "order", null)).toEqual(["order", null]);
    expect(letIn(sql("1=0"), "order", null)).toEqual([]);
    for (const expression of ["priority > 3", "sys.Label LIKE", "sys.Label = 'a' 'b'", "'", "sys.Label ~ 'a'"]) {
      expect(arrivals(fanned(subscription("billing", rule(sql(expression)))), { to: "orders" })).toEqual([
        ["active in orders/Subscriptions/billing, 0"],
        ["lost: no-subscription"],
      ]);
    }
  },
  "sql-compares-case": () => expect(letIn(sql("sys.label = 'Order'"), "order", "Order")).toEqual(["Order"]),
};

describe("every claim about Service Bus", () => {
  test.for(Object.entries(tests))("%s", ([name, check]) => {
    check();
    expect(claims[name as ClaimName].says).not.toBe("");
  });
});

test("an assumed claim says that it is assumed", () => {
  const assumed = Object.values(claims).filter((claim) => "assumed" in claim);
  expect(assumed.length).toBeGreaterThan(5);
  for (const { source } of assumed) expect(source).toMatch(/no source|is assumed|Redeliver assumes/);
});

test("a session that another receiver holds keeps its messages", () => {
  const held = { lockedSessions: new Set(["a"]) };
  expect(ends(sessionWork, ["deliver"], { content: inSession }, held)).toEqual([]);
  expect(ends(sessionWork, ["deliver"], { content: { ...inSession, sessionId: "b" } }, held)).toEqual([
    "locked in work, 0",
  ]);
});

test("a message in a ring of dead-letter queues comes to rest", () => {
  const ring = only(
    queue("work", { forwardTo: "gone", forwardDeadLetteredTo: "other" }),
    queue("other", { forwardTo: "gone", forwardDeadLetteredTo: "work" }),
  );
  for (const state of statesAfter(ring, [])) expect(state.place).toMatchObject({ kind: "entity", status: "active" });
});

test("exactly those states share a key that no later event can tell apart", () => {
  const semantics = semanticsOf(work);
  const [state] = statesAfter(work, ["deliver"]) as [MessageState];
  const key = semantics.behaviourKey(state);
  expect(semantics.behaviourKey({ ...state, deliveryCount: 2 })).toBe(
    semantics.behaviourKey({ ...state, deliveryCount: 9 }),
  );
  expect(semantics.behaviourKey({ ...state, deliveryCount: 1 })).not.toBe(key);
  expect(semantics.behaviourKey({ ...state, hops: 1 })).not.toBe(key);
  expect(semantics.behaviourKey({ ...state, content: inSession })).not.toBe(key);
  const ended = { ...state, place: { kind: "completed", entity: "work" } } as const;
  expect(semantics.behaviourKey({ ...ended, hops: 1 })).toBe(semantics.behaviourKey(ended));
});
