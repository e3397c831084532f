import { describe, expect, test } from "vitest";

import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { type Parts, binding, deadThrough, exchange, exported, queue } from "../support/known-topologies.ts";
import { adoptText, factsOf } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

const adopted = (parts: Parts, target?: string): Adopted => adoptText(exported(parts), target);
const consumersOf = ({ draft }: Adopted): readonly string[] => Object.keys(draft.system.consumers);

describe("a word for failures in the name of an endpoint", () => {
  const endpoint = (name: string, message: string, ...more: readonly object[]): Parts => ({
    exchanges: [exchange(name, "fanout"), exchange(message, "fanout"), exchange(`${name}_error`, "fanout")],
    queues: [queue(name, quorum), queue(`${name}_error`, quorum)],
    bindings: [
      binding(message, name, "", "exchange"),
      binding(name, name),
      binding(`${name}_error`, `${name}_error`),
      ...more,
    ],
  });
  test.each([
    ["payment-failed", "Contracts:PaymentFailed"],
    ["PaymentFailures", "Billing.PaymentCaptured"],
  ])("%s is that of an event, because %s leads into its exchange", (name, message) => {
    const found = adopted(endpoint(name, message));
    expect(consumersOf(found)).toEqual([name]);
    expect(found.proved.compiled.contracts).toMatchObject([{ deadQueue: `${name}_error` }]);
  });
});

test("shared delays show their framework for the queues that they lead to, and no others", () => {
  const nsb = "nsb.v2.delay-delivery";
  const found = adopted({
    exchanges: [exchange(nsb, "topic"), exchange("Sales", "fanout"), exchange("bus", "topic")],
    queues: [queue("Sales", quorum), queue("mail", quorum)],
    bindings: [
      binding(nsb, "Sales", "#.Sales", "exchange"),
      binding("Sales", "Sales"),
      binding("bus", "mail", "mail.#"),
    ],
  });
  const named = found.unsaid.filter(({ fact }) => fact.startsWith("by its names")).map(({ place }) => place);
  expect(named).toEqual(["Sales"]);
});

test("a queue with copies of dead letters is not said to belong to nobody", () => {
  const found = adopted({
    exchanges: [exchange("in", "topic"), exchange("dlx", "topic")],
    queues: [
      queue("pay", { ...quorum, ...deadThrough("dlx", "pay") }),
      queue("pay.dlq", quorum),
      queue("alerts", quorum),
    ],
    bindings: [binding("in", "pay", "#"), binding("dlx", "pay.dlq", "pay"), binding("dlx", "alerts", "#")],
  });
  expect(factsOf(found).filter((each) => each.startsWith("alerts: "))).toEqual([
    "alerts: it gets dead letters through dlx, and is not the dead queue of a declared consumer; its letters stay, and new ones go to the dead queue of each consumer",
  ]);
});

test("a delivery limit that basic.nack never reaches is named from 4.3 on", () => {
  const parts = { queues: [queue("pay", { ...quorum, "x-delivery-limit": 10 })] };
  const saysOn = (target: string): boolean =>
    factsOf(adopted(parts, target)).some((each) => each.includes("basic.nack"));
  expect(["rabbitmq@4.3", "rabbitmq@4.0"].map(saysOn)).toEqual([true, false]);
});

describe("the losses of today", () => {
  const policy = (name: string, pattern: string, definition: object, priority = 1): object => {
    return { vhost: "/", name, pattern, "apply-to": "queues", priority, definition };
  };
  const parts = (definition: object, ...policies: readonly object[]): Parts => ({
    exchanges: [exchange("in", "topic"), exchange("dlx", "topic")],
    queues: [queue("pay", quorum), queue("pay.dlq", quorum)],
    bindings: [binding("in", "pay", "#"), binding("dlx", "pay.dlq", "#")],
    policies: [policy("dlx", "^pay$", { "dead-letter-exchange": "dlx", ...definition }), ...policies],
  });
  test("name no missing route behind an exchange that has one", () => {
    const text = renderAdoption(adopted(parts({})), false, null);
    expect(text).toContain("pay: a message is lost: its queue waits for no confirm");
    expect(text).not.toMatch(/the exchange has no route|may be full/);
    const unbound = { ...parts({}), bindings: [binding("in", "pay", "#")] };
    expect(renderAdoption(adopted(unbound), false, null)).toContain("a rejected message has no way on");
  });
  test("are not said to end while a policy of others breaks the declared system", () => {
    const text = (...more: readonly object[]): string => renderAdoption(adopted(parts({}, ...more)), false, null);
    expect(text()).toContain("The declared system loses none of them.");
    expect(text(policy("all", "^pay", { "max-length": 10 }, 2_000))).not.toContain("loses none of them");
  });
});

test("a name that is a part of another word does not keep a queue from those that are alike", () => {
  const names = ["critical", "default", "low"];
  const found = adopted({ queues: names.map((name) => queue(name, { "x-queue-type": "classic" })) });
  expect(renderAdoption(found, false, null)).toContain("    alike: default, low\n");
});
