import { describe, expect, test } from "vitest";

import type { Diagnostic } from "../../src/index.ts";
import { findingsIn, policy, quorum } from "../support/audit.ts";
import { binding, bound, deadThrough, deadTo, exchange, queue } from "../support/known-topologies.ts";

// Topologies that lose messages in ways that are easily overlooked, and sound ones that look like them.

/** The findings, as code and queues. */
function found(definitions: object, version = "4.0.5", upgradeTo?: string): string[] {
  return findingsIn(definitions, version, upgradeTo).map(textOf);
}

function textOf({ code, value, path, message }: Diagnostic): string {
  const name = /^(?:the (?:policy|policies|exchange) )?("[^"]*"|\S+)/.exec(message)?.[1] ?? path;
  return `${code} ${Array.isArray(value) ? value.join() : name}`;
}

const codes = (definitions: object, version?: string, upgradeTo?: string): string[] =>
  [...new Set(findingsIn(definitions, version ?? "4.0.5", upgradeTo).map(({ code }) => code))].toSorted();

describe("the audit follows messages through the queues of every consumer", () => {
  const limited = { "x-delivery-limit": 3 };
  const each = {
    exchanges: [exchange("in", "direct")],
    queues: [quorum("a", { ...deadTo("b"), ...limited }), quorum("b", { ...deadTo("a"), ...limited })],
    bindings: [binding("in", "a", "a"), binding("in", "b", "b")],
  };

  test.for(["3.10.8", "3.13.7", "4.0.5", "4.3.6"])(
    "two consumed queues that dead-letter to each other, on %s",
    (version) => {
      const all = found(each, version);
      expect(all).toEqual(expect.arrayContaining(["RD413 a", "RD413 b", "RD414 a", "RD414 b"]));
    },
  );
});

describe("policies with the same priority", () => {
  const queues = [queue("w", {}), queue("dead", {})];
  const dlx = { "dead-letter-exchange": "", "dead-letter-routing-key": "dead" };

  test.for([{ "ha-mode": "all" }, { "consumer-timeout": 60_000 }])("each of them may apply: %o", (other) => {
    const all = findingsIn({ queues, policies: [policy("dlx", "^w$", dlx), policy("all", "^[wx]$", other)] }, "3.13.7");
    expect(all.map(textOf)).toEqual(["RD420 w", "RD422 dlx"]);
    expect(all[0]?.notes.at(-1)).toContain("the policy all before dlx: they have the same priority");
  });

  test("a duplicate of another one does no harm", () => {
    expect(found({ queues, policies: [policy("dlx", "^w$", dlx), policy("again", "^w$", dlx)] })).toEqual([]);
  });
});

describe("queues that disappear", () => {
  const work = queue("orders", deadTo("orders.dead"));
  const gone = (given: object): object => ({ ...queue("orders.dead"), ...given });

  test("a dead queue that is transient or auto-delete is an error", () => {
    expect(found({ queues: [work, gone({ durable: false })] })).toEqual(["RD433 orders.dead"]);
    expect(found({ queues: [work, gone({ auto_delete: true })] })).toEqual(["RD433 orders.dead"]);
  });

  test("a client's own queue needs no dead-letter exchange", () => {
    const queues = ["exclusive", "auto_delete"].map((key) => ({ ...queue(key), [key]: true }));
    const mqtt = { ...queue("mqtt-subscription-1qos0"), type: "rabbit_mqtt_qos0_queue" };
    expect(found({ queues: [...queues, mqtt] })).toEqual([]);
  });
});

describe("an upgrade", () => {
  const mirrored = policy("ha", "^w$", { "ha-mode": "all", ...deadTo("dead") });

  test("to 4.0 refuses policies that mirror, and names the keys that go with them", () => {
    const refused = findingsIn({ queues: [queue("w"), queue("dead")], policies: [mirrored] }, "3.13.7", "4.0").find(
      ({ code }) => code === "RD435",
    );
    expect(refused?.notes.join()).toContain("its other settings are lost too: x-dead-letter-exchange");
  });

  test("to 4.3 loses the delayed-message exchange", () => {
    const delayed = { ...exchange("later", "x-delayed-message"), arguments: { "x-delayed-type": "direct" } };
    expect(found({ exchanges: [delayed] }, "4.2.0", "4.3")).toEqual(["RD435 later"]);
    expect(found({ exchanges: [delayed] }, "3.13.7", "4.2.0")).toEqual([]);
  });

  test("reports nothing about delay queues without a consumer", () => {
    const level = (number: number, next: string): object =>
      quorum(`level-${number}`, { "x-message-ttl": 1_000 * 2 ** number, "x-dead-letter-exchange": next });
    const definitions = {
      exchanges: [...["d1", "d0", "out"].map((name) => exchange(name, "topic")), exchange("sales", "fanout")],
      queues: [level(1, "d0"), level(0, "out"), queue("sales")],
      bindings: bound(
        "d1 > level-1: 1.#",
        "d1 >> d0: 0.#",
        "d0 > level-0: *.1.#",
        "d0 >> out: *.0.#",
        "out >> sales: #.sales",
        "sales > sales",
      ),
    };
    for (const [from, to] of [
      ["3.13.7", "4.0"],
      ["4.2.0", "4.3"],
    ] as const)
      expect(found(definitions, from, to)).toEqual([]);
  });
});

describe("queues that frameworks publish failures, copies and replies to", () => {
  const names = [
    "error",
    "orders_error",
    "orders_skipped",
    "EasyNetQ_Default_Error_Queue",
    "orders.dead-letter",
    "audit",
    "rpc.replies",
  ];

  test("do not need a dead-letter exchange", () => {
    const definitions = {
      exchanges: names.map((name) => exchange(name, "fanout")),
      queues: names.map((name) => queue(name)),
      bindings: names.map((name) => binding(name, name)),
    };
    expect(found(definitions)).toEqual([]);
  });

  test.for(["orders", "auditing.orders", "errors.handler", "replays"])("a queue named %s has a consumer", (name) => {
    expect(found({ queues: [queue(name)] })).toEqual([`RD420 ${name}`]);
  });

  test("a key that no dead letter has comes from a producer, on the dead-letter exchange, too", () => {
    const definitions = {
      exchanges: [exchange("events", "direct")],
      queues: [
        quorum("billing", deadThrough("events", "dead")),
        quorum("shipping"),
        quorum("parked", { "x-delivery-limit": -1 }),
      ],
      bindings: [binding("events", "shipping", "order.placed"), binding("events", "parked", "dead")],
    };
    expect(found(definitions)).toEqual(["RD420 shipping"]);
  });
});

describe("many queues", () => {
  test("with the same fault share one diagnostic, with their number", () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `orders-${index}`);
    const definitions = {
      queues: names.flatMap((name) => [
        quorum(name, deadTo(`${name}.wait`)),
        quorum(`${name}.wait`, { "x-message-ttl": 5_000, ...deadTo(name) }),
      ]),
    };
    const all = findingsIn(definitions, "4.0.5");
    expect(all.map(({ code }) => code)).toEqual(["RD413", "RD413", "RD416"]);
    for (const { value, message } of all) {
      expect(value).toHaveLength(2_000);
      expect(message).toMatch(/; 1999 more queues are in the same case$/);
    }
  });

  test("in a ring are judged in part, and the audit reports that", () => {
    const length = 1_500;
    const definitions = {
      queues: Array.from({ length }, (_, index) =>
        queue(`q${index}`, { "x-message-ttl": 1_000, ...deadTo(`q${(index + 1) % length}`) }),
      ),
    };
    expect(codes(definitions)).toContain("RD428");
  });
});
