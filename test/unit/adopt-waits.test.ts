import { describe, expect, test } from "vitest";

import { compileAndProve } from "../../src/compile/compile.ts";
import { brokers } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { type Parts, binding, deadTo, exchange, exported, queue, waiting } from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

describe("a waiting queue", () => {
  const attemptsOf = (parts: Parts): object =>
    Object.fromEntries(
      adoptText(exported(parts)).proved.compiled.contracts.map(({ consumer, attempts }) => [consumer, attempts.length]),
    );
  const source = exchange("events", "topic");
  const ways = [binding("events", "a", "a.*"), binding("events", "b", "b.*")];

  test("that brings failed messages back to several queues counts for each that fails into it", () => {
    const dying = { ...quorum, "x-dead-letter-exchange": "retry", "x-dead-letter-routing-key": "r" };
    const found = attemptsOf({
      exchanges: [source, exchange("retry", "direct"), exchange("requeue", "fanout")],
      queues: [queue("a", dying), queue("b", dying), queue("r.wait", waiting(5_000, "requeue"))],
      bindings: [...ways, binding("retry", "r.wait", "r"), binding("requeue", "a"), binding("requeue", "b")],
    });
    expect(found).toEqual({ a: 5, b: 5 });
  });

  test("for the dead letters of another queue shows no retries", () => {
    const found = attemptsOf({
      exchanges: [source],
      queues: [
        queue("a", { ...quorum, ...deadTo("a.failed") }),
        queue("a.failed", waiting(3_600_000, "", "b")),
        queue("b", quorum),
      ],
      bindings: ways,
    });
    expect(found).toEqual({ a: 1, b: 1 });
  });

  test("bound to an exchange of other work queues holds the messages of producers", () => {
    const parts = {
      exchanges: [source, exchange("closing", "direct")],
      queues: [
        queue("a", quorum),
        queue("b.delay", waiting(1_800_000, "closing", "close")),
        queue("b", { ...quorum, ...deadTo("b.dlq") }),
        queue("b.dlq", quorum),
      ],
      bindings: [binding("events", "a", "a.*"), binding("events", "b.delay", "b.*"), binding("closing", "b", "close")],
    };
    expect(attemptsOf(parts)).toEqual({ a: 1, b: 1 });
    expect(adoptText(exported(parts)).unsaid).toContainEqual({
      place: "b.delay",
      fact: expect.stringMatching(
        /^its messages go on to b after 30m, so it seems to be a delay of producers/,
      ) as unknown,
    });
  });
});

test("a shared dead queue of Redeliver's keeps the place of its settings", () => {
  const backoff = { kind: "constant", delay: "1s" } as const;
  const system = checked({
    name: "shop",
    consumers: {
      billing: { retry: { attempts: 2, backoff }, deadLetter: { queueSettings: "policy" } },
      mail: { retry: { attempts: 2, backoff }, deadLetter: { queueSettings: "policy" } },
    },
  });
  const made = compileAndProve<"rabbitmq">(system, {
    broker: "rabbitmq",
    version: "4.2",
    strategy: "auto",
    deadQueue: "shared",
  });
  if (!made.ok) throw new Error(made.diagnostics[0]?.message);
  const { compiled } = made.value;
  const text = JSON.stringify(brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/"));
  expect(adoptText(text, "rabbitmq@4.2").proved.compiled.topology.queues).toEqual(compiled.topology.queues);
});
