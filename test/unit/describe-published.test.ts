import { expect, test } from "vitest";

import { describeDeadLetter } from "../../src/consume/index.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";

const retry = { attempts: 2, backoff: { kind: "immediate" } } as const;
const system = checked({ name: "shop", consumers: { billing: { retry } } });
const [contract] = accepted(compile(system, accepted(parseTarget("rabbitmq@4.3")))).contracts;
const died = (queue: string, more: object = {}): object => ({
  properties: {
    headers: { "x-death": [{ queue, reason: "expired", count: 1 }], "x-exception-message": "no address", ...more },
  },
});

test("the deaths of a letter that Spring published are those of earlier attempts", () => {
  expect(describeDeadLetter(died("orders.wait"))).not.toHaveProperty("dlq-original-queue");
  expect(describeDeadLetter(died("orders.wait"), contract)).not.toHaveProperty("dlq-original-queue");
  const moved = describeDeadLetter(died("orders.wait", { "x-exception-message": "" }));
  expect(moved).toHaveProperty("dlq-original-queue", "orders.wait");
});

test("a death in the contract's own queue is the end, also of a message that Spring once published", () => {
  expect(describeDeadLetter(died("shop.billing"), contract)).toMatchObject({
    "dlq-original-queue": "shop.billing",
    "dlq-failure-reason": "EXPIRED",
  });
});
