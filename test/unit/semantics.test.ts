import { describe, expect, test } from "vitest";

import type {
  Arguments,
  BrokerBinding,
  BrokerEvent,
  BrokerPolicy,
  BrokerQueue,
  BrokerTopology,
  MessageState,
  Publication,
  Semantics,
  SemanticsVersion,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";
import * as rabbitmq from "../../src/brokers/rabbitmq/prove/semantics.ts";

const { semanticsOf, semanticsVersionOf, semanticsVersions } = rabbitmq;

const empty: BrokerTopology = { exchanges: [], queues: [], bindings: [], policies: [] };

function quorum(name: string, given: Arguments = {}): BrokerQueue {
  return { name, kind: "quorum", arguments: { "x-queue-type": "quorum", ...given } };
}

function to(key: string): Arguments {
  return { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key };
}

function policy(definition: Arguments): BrokerPolicy {
  return { name: "policy", kind: "user", pattern: "^work$", applyTo: "queues", priority: 0, definition };
}

function binding(source: string, destination: string, given: Arguments = {}): BrokerBinding {
  return { source, destination, destinationKind: "queue", routingKey: "", arguments: given };
}

const safely: Arguments = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };

/** A consumer's answer to a delivery, or an event of the broker. */
type Move =
  | "crash"
  | "nack"
  | "reject"
  | "nack-requeue"
  | "reject-requeue"
  | "expire"
  | "due"
  | "ack"
  | "consumer-timeout";

const answers: Readonly<Record<Exclude<Move, "expire" | "due">, BrokerEvent>> = {
  ack: { kind: "ack" },
  crash: { kind: "crash" },
  nack: { kind: "nack", requeue: false },
  reject: { kind: "reject", requeue: false },
  "nack-requeue": { kind: "nack", requeue: true },
  "reject-requeue": { kind: "reject", requeue: true },
  "consumer-timeout": { kind: "consumer-timeout" },
};

/** Plays moves with one message. It stops when the message has left the queues or a move is impossible. */
function play(
  topology: BrokerTopology,
  version: SemanticsVersion,
  moves: readonly Move[],
  publication: Publication = { exchange: "", routingKey: "work" },
): { readonly state: MessageState; readonly places: readonly string[] } {
  const semantics = semanticsOf(topology, version);
  let state = single(semantics.publish(publication));
  const places: string[] = [describePlace(state)];
  for (const move of moves) {
    const events: readonly BrokerEvent[] =
      move === "expire" || move === "due" ? [{ kind: move }] : [{ kind: "deliver" }, answers[move]];
    for (const event of events) {
      const outcomes = semantics.step(state, event);
      if (outcomes.length === 0) return { state, places };
      state = single(outcomes);
    }
    places.push(describePlace(state));
  }
  return { state, places };
}

function single(outcomes: readonly (readonly MessageState[])[]): MessageState {
  expect(outcomes).toHaveLength(1);
  expect(outcomes[0]).toHaveLength(1);
  return outcomes[0]?.[0] as MessageState;
}

function describePlace({ place }: MessageState): string {
  switch (place.kind) {
    case "queue":
      return place.status === "ready" ? place.queue : `${place.status} in ${place.queue}`;
    case "lost":
      return `lost: ${place.cause}`;
    default:
      return place.kind;
  }
}

function deliveredBy(semantics: Semantics): MessageState {
  return single(semantics.step(single(semantics.publish({ exchange: "", routingKey: "work" })), { kind: "deliver" }));
}

/** The last place of the message on each version. */
function ends(topology: BrokerTopology, moves: readonly Move[]): ByVersion<string> {
  return byVersion((version) => play(topology, version, moves).places.at(-1) as string);
}

type ByVersion<Value> = Readonly<Record<SemanticsVersion, Value>>;

function byVersion<Value>(of: (version: SemanticsVersion) => Value): ByVersion<Value> {
  return Object.fromEntries(semanticsVersions.map((version) => [version, of(version)])) as ByVersion<Value>;
}

function everywhere<Value>(value: Value): ByVersion<Value> {
  return byVersion(() => value);
}

/** One value for all versions before this one, and another from it on. */
function since<Value>(version: SemanticsVersion, before: Value, after: Value): ByVersion<Value> {
  const place = semanticsVersions.indexOf(version);
  return byVersion((each) => (semanticsVersions.indexOf(each) < place ? before : after));
}

function repeat(move: Move, times: number): readonly Move[] {
  return Array.from({ length: times }, () => move);
}

const loop: BrokerTopology = {
  ...empty,
  queues: [
    quorum("work", { ...to("wait"), "x-delivery-limit": 2 }),
    quorum("wait", { ...to("work"), "x-message-ttl": 1_000 }),
  ],
};

describe("cycles of dead-lettering", () => {
  test("M1: crashes up to the limit, then the tier: lost on every version", () => {
    expect(ends(loop, [...repeat("crash", 3), "expire"])).toEqual(everywhere("lost: cycle"));
  });

  test("M1 with at-least-once from the tier: kept for ever, invisible", () => {
    const [work, wait] = loop.queues as [BrokerQueue, BrokerQueue];
    const topology = { ...loop, queues: [work, { ...wait, arguments: { ...wait.arguments, ...safely } }] };
    expect(ends(topology, [...repeat("crash", 3), "expire"])).toEqual(everywhere("retained in wait"));
    const { state } = play(topology, "4.3.1", [...repeat("crash", 3), "expire"]);
    const semantics = semanticsOf(topology, "4.3.1");
    expect(semantics.spontaneousEvents(state)).toEqual([{ kind: "retry-dead-letter" }]);
    expect(semantics.step(state, { kind: "retry-dead-letter" })).toEqual([[state]]);
  });

  test("M3: after an earlier rejection, 3.10 to 3.12 let the crash loop continue, and later versions cut it", () => {
    const moves: readonly Move[] = ["nack", "expire", ...repeat("crash", 3), "expire"];
    expect(ends(loop, moves)).toEqual(since("3.13.0", "work", "lost: cycle"));
  });

  test("rejections circulate for ever, on every version", () => {
    expect(ends(loop, ["nack", "expire", "nack", "expire", "nack", "expire"])).toEqual(everywhere("work"));
  });

  test("a time to live on both queues: the cycle is cut", () => {
    const [work, wait] = loop.queues as [BrokerQueue, BrokerQueue];
    const topology = { ...loop, queues: [{ ...work, arguments: { ...work.arguments, "x-message-ttl": 10 } }, wait] };
    expect(ends(topology, ["expire", "expire"])).toEqual(everywhere("lost: cycle"));
  });

  test("a rejection and two tiers: the cycle is allowed", () => {
    const topology: BrokerTopology = {
      ...empty,
      queues: [
        quorum("work", to("wait")),
        quorum("wait", { ...to("more"), "x-message-ttl": 10 }),
        quorum("more", { ...to("work"), "x-message-ttl": 10 }),
      ],
    };
    expect(ends(topology, ["nack", "expire", "expire"])).toEqual(everywhere("work"));
  });

  test("the default exchange without a key leads back into the same queue at once", () => {
    const topology = { ...empty, queues: [quorum("work", { "x-dead-letter-exchange": "" })] };
    expect(ends(topology, ["nack", "nack", "nack"])).toEqual(everywhere("work"));
  });

  test("published to the tier: the cycle is allowed", () => {
    const { places } = play(loop, "4.3.1", ["expire", "nack", "expire"], { exchange: "", routingKey: "wait" });
    expect(places).toEqual(["wait", "work", "wait", "work"]);
  });

  test("death records from a client count up to 3.12 and in 3.13.3", () => {
    const history = [{ queue: "work", reason: "expired", exchange: "", count: 1, "routing-keys": ["work"] }];
    const publication = { exchange: "", routingKey: "wait", headers: { "x-death": history } };
    expect(byVersion((version) => play(loop, version, ["expire"], publication).places.at(-1))).toEqual({
      ...since("4.0", "lost: cycle", "work"),
      "3.13.0": "work",
    });
  });

  test("3.13.0 sorts by queue names: any rejection that sorts before the target breaks the cycle", () => {
    const named = (reject: string): BrokerTopology => ({
      ...empty,
      queues: [
        quorum(reject, to("m")),
        quorum("m", { ...to("n"), "x-message-ttl": 10 }),
        quorum("n", { ...to("m"), "x-message-ttl": 10 }),
      ],
    });
    const end = (first: string, version: SemanticsVersion): string | undefined =>
      play(named(first), version, ["nack", "expire", "expire"], { exchange: "", routingKey: first }).places.at(-1);
    expect([end("a", "3.13.0"), end("z", "3.13.0")]).toEqual(["m", "lost: cycle"]);
    expect([end("a", "3.13.3"), end("z", "3.13.3")]).toEqual(["lost: cycle", "lost: cycle"]);
  });
});

describe("the delivery limit", () => {
  const limited = (limit: number | string, policies: readonly BrokerPolicy[] = []): BrokerTopology => ({
    ...empty,
    queues: [quorum("work", { ...to("dead"), "x-delivery-limit": limit }), quorum("dead")],
    policies,
  });
  const limitPolicy = (limit: number): BrokerPolicy => policy({ "delivery-limit": limit });
  const deliveries = (topology: BrokerTopology, move: Move): ByVersion<number> =>
    byVersion((version) => play(topology, version, repeat(move, 30)).places.filter((place) => place === "work").length);

  test("a limit of N allows N + 1 deliveries", () => {
    expect(deliveries(limited(2), "crash")).toEqual(everywhere(3));
  });

  test("M2: up to 4.2 nack with requeue counts; from 4.3 on it never does", () => {
    expect(deliveries(limited(2), "nack-requeue")).toEqual(since("4.3.0", 3, 31));
    expect(deliveries(limited(2), "reject-requeue")).toEqual(everywhere(3));
    expect(deliveries(limited(2), "consumer-timeout")).toEqual(since("4.3.0", 3, 31));
  });

  test("the default is 20 from 4.0 on", () => {
    const topology = { ...empty, queues: [quorum("work", to("dead")), quorum("dead")] };
    expect(deliveries(topology, "crash")).toEqual(since("4.0", 31, 21));
  });

  test("M11: a text means no limit, and the default from 4.2.5 on", () => {
    expect(deliveries(limited("3"), "crash")).toEqual(since("4.2", 31, 21));
  });

  test("M12: the policy and the argument together, and -1", () => {
    expect(deliveries(limited(5, [limitPolicy(2)]), "crash")).toEqual(everywhere(3));
    expect(deliveries(limited(1, [limitPolicy(2)]), "crash")).toEqual(everywhere(2));
    expect(deliveries(limited(-1), "crash")).toEqual(since("4.0", 1, 31));
    expect(deliveries(limited(3, [limitPolicy(-1)]), "crash")).toEqual(since("4.0", 1, 4));
  });

  test("M14: on 4.3 rejections spend the crash budget across queues, and nacks do not", () => {
    const topology: BrokerTopology = {
      ...empty,
      exchanges: [
        { name: "failed", kind: "headers", arguments: { "alternate-exchange": "dead" } },
        { name: "dead", kind: "fanout", arguments: {} },
      ],
      queues: [
        quorum("work", { "x-dead-letter-exchange": "failed", "x-delivery-limit": 2 }),
        quorum("wait", { ...to("work"), "x-message-ttl": 100 }),
        quorum("dead"),
      ],
      bindings: [
        binding("failed", "wait", { "x-match": "all-with-x", "x-last-death-reason": "rejected" }),
        binding("dead", "dead"),
      ],
    };
    const runs = (move: "nack" | "reject"): ByVersion<number> =>
      byVersion((version) => {
        const moves: readonly Move[] = [
          ...Array.from({ length: 4 }, (): readonly Move[] => [move, "expire"]).flat(),
          ...repeat("crash", 4),
        ];
        return play(topology, version, moves).places.filter((place) => place === "work").length;
      });
    // Before 3.13 no header names the last death, so the first rejection goes to the dead queue.
    expect(runs("reject")).toEqual({ ...since("4.3.0", 7, 5), "3.10": 1, "3.12": 1 });
    expect(runs("nack")).toEqual({ ...everywhere(7), "3.10": 1, "3.12": 1 });
  });
});

describe("delayed retry", () => {
  const bounds = { "x-delayed-retry-min": 300, "x-delayed-retry-max": 900 };
  const topology = (type: string): BrokerTopology => ({
    ...empty,
    queues: [
      quorum("work", { ...to("dead"), ...bounds, "x-delivery-limit": 4, "x-delayed-retry-type": type }),
      quorum("dead"),
    ],
  });
  const delays = (type: string, version: SemanticsVersion, moves: readonly Move[]): readonly (number | null)[] => {
    const semantics = semanticsOf(topology(type), version);
    const seen: (number | null)[] = [];
    let state = single(semantics.publish({ exchange: "", routingKey: "work" }));
    for (const move of moves) {
      state = single(semantics.step(state, { kind: "deliver" }));
      state = single(semantics.step(state, answers[move as "crash"]));
      if (state.place.kind !== "queue" || state.place.status !== "delayed") continue;
      seen.push(state.place.delayMs);
      state = single(semantics.step(state, { kind: "due" }));
    }
    return seen;
  };

  test("M4: the delay grows linearly up to the maximum, and the limit goes first", () => {
    expect(delays("failed", "4.3.1", repeat("reject-requeue", 5))).toEqual([300, 600, 900, 900]);
    expect(delays("failed", "4.0", repeat("reject-requeue", 5))).toEqual([]);
    expect(ends(topology("failed"), ["reject-requeue"])).toEqual(since("4.3.0", "work", "delayed in work"));
  });

  test("M5: a nack waits for the minimum each time, and only if returns are delayed", () => {
    expect(delays("all", "4.3.1", repeat("nack-requeue", 3))).toEqual([300, 300, 300]);
    expect(delays("returned", "4.3.1", ["nack-requeue", "crash"])).toEqual([300]);
    expect(delays("failed", "4.3.1", ["nack-requeue", "crash"])).toEqual([300]);
  });

  test("M13: by policy only from 4.3.1 on", () => {
    const byPolicy: BrokerTopology = {
      ...empty,
      queues: [quorum("work")],
      policies: [{ ...policy({ "delayed-retry-type": "all", "delayed-retry-min": 200 }), applyTo: "quorum_queues" }],
    };
    const delays = byVersion((version) => semanticsOf(byPolicy, version).settings("work")?.delayedRetry?.maxMs ?? null);
    expect(delays).toEqual(since("4.3.1", null, 200));
  });

  test("M10: an AMQP 1.0 consumer sets the time itself", () => {
    const plain: BrokerTopology = { ...empty, queues: [quorum("work")] };
    const semantics = semanticsOf(plain, "4.3.1");
    const delivered = deliveredBy(semantics);
    const event: BrokerEvent = { kind: "modified", deliveryFailed: true, undeliverableHere: false, deliveryTime: true };
    expect(describePlace(single(semantics.step(delivered, event)))).toBe("delayed in work");
    expect(describePlace(single(semanticsOf(plain, "4.2").step(delivered, event)))).toBe("work");
  });
});

describe("losses", () => {
  test("a death without a dead-letter exchange, with a missing one, and without a route", () => {
    const dies = (given: Arguments): string =>
      play({ ...empty, queues: [quorum("work", given)] }, "4.3.1", ["nack"]).places.at(-1) as string;
    expect(dies({})).toBe("lost: no-dead-letter-exchange");
    expect(dies({ "x-dead-letter-exchange": "nowhere" })).toBe("lost: missing-exchange");
    expect(dies(to("nobody"))).toBe("lost: no-route");
    expect(dies({ ...to("nobody"), ...safely })).toBe("retained in work");
    expect(dies({ ...to("nobody"), "x-dead-letter-strategy": "at-least-once" })).toBe("lost: no-route");
  });

  test("a full target: a classic queue refuses the dead letter, a quorum queue takes it unless dead-lettering is at least once", () => {
    const topology = (kind: "classic" | "quorum", given: Arguments): BrokerTopology => ({
      ...empty,
      queues: [
        quorum("work", { ...to("dead"), ...given }),
        { name: "dead", kind, arguments: { "x-queue-type": kind, "x-max-length": 1, "x-overflow": "reject-publish" } },
      ],
    });
    const end = (kind: "classic" | "quorum", given: Arguments): string => {
      const semantics = semanticsOf(topology(kind, given), "4.3.1");
      const delivered = deliveredBy(semantics);
      return describePlace(single(semantics.step(delivered, answers.nack, { fullQueues: new Set(["dead"]) })));
    };
    expect(end("classic", {})).toBe("lost: target-full");
    expect(end("quorum", {})).toBe("dead");
    expect(end("classic", safely)).toBe("retained in work");
    expect(end("quorum", safely)).toBe("retained in work");
  });

  test("x-expires deletes the messages without dead-lettering them", () => {
    const semantics = semanticsOf(
      { ...empty, queues: [quorum("work", { ...to("work"), "x-expires": 1_000 })] },
      "4.3.1",
    );
    const ready = single(semantics.publish({ exchange: "", routingKey: "work" }));
    expect(semantics.spontaneousEvents(ready)).toEqual([{ kind: "queue-expires" }]);
    expect(describePlace(single(semantics.step(ready, { kind: "queue-expires" })))).toBe("lost: queue-expired");
  });
});

describe("state keys", () => {
  test("a loop of rejections has finitely many keys, although its states differ", () => {
    const semantics = semanticsOf(loop, "4.3.1");
    const states = [2, 3, 4].map(
      (rounds) =>
        play(loop, "4.3.1", Array.from({ length: rounds }, (): readonly Move[] => ["nack", "expire"]).flat()).state,
    );
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(3);
    expect(new Set(states.map(semantics.behaviourKey)).size).toBe(1);
  });

  test("the class of versions of a target", () => {
    const of = (version: "3.11" | "3.13" | "4.2" | "4.3", patch: number | null): SemanticsVersion =>
      semanticsVersionOf({ version, patch });
    expect([of("3.11", null), of("3.13", 2), of("3.13", null)]).toEqual(["3.10", "3.13.0", "3.13.3"]);
    expect([of("4.2", 4), of("4.2", 5), of("4.3", 0), of("4.3", null)]).toEqual(["4.1", "4.2", "4.3.0", "4.3.1"]);
  });
});
