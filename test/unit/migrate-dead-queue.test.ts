import { expect, test } from "vitest";

import { checkTarget, type Target, type TargetInput } from "../../src/brokers/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { accepted, checked } from "../support/examples.ts";

// Consumers that share a dead queue, or each have their own, before and after a migration.

const retry = { attempts: 3, backoff: { kind: "constant", delay: "5s" } };
const consumer = { from: { orders: ["a"] }, retry, handlerTimeout: "10s" };
const jitter = { ...consumer, retry: { ...retry, backoff: { ...retry.backoff, jitter: "20%" } } };
const lettersOf = { ...consumer, deadLetter: { queue: "letters-of-billing" } };

const shop = (billing: object, names?: object) =>
  checked({ name: "shop", names, sources: { orders: { kind: "topic" } }, consumers: { billing, mail: consumer } });

/** In each step the dead queue of each consumer. */
function deadQueues(from: readonly [object, object | undefined, string], to: typeof from, target: object) {
  const [before, after] = [from, to].map(([billing, names, deadQueue]) => ({
    system: shop(billing, names),
    target: accepted(
      checkTarget({ ...target, ...(deadQueue === "own" ? {} : { deadQueue }) } as TargetInput),
    ) as Target,
  }));
  if (before === undefined || after === undefined) return null;
  const old = readDeployed(before.system, before.target as TargetInput) ?? expect.unreachable();
  const { steps } = accepted(planMigration(old, after.system, after.target));
  return steps.map((step) => {
    const deployed = readDeployed(step.system, step.target as TargetInput) ?? expect.unreachable();
    return Object.fromEntries(deployed.compiled.contracts.map((each) => [each.consumer, each.deadQueue]));
  });
}

const rabbitmq = { broker: "rabbitmq", version: "4.3" };
const sqs = { broker: "sqs", region: "eu-west-1" };
const letters = { dead: "letters" };
const dlq = { dead: "{queue}-dlq" };
const both = (queue: string) => ({ "billing-before": queue, "mail-before": queue });

test("a consumer that moves goes on to share the dead queue, whatever its name", () => {
  for (const [names, dead] of [[letters, "letters"] as const, [undefined, "shop.dead"] as const]) {
    const queues = deadQueues([consumer, names, "shared"], [jitter, names, "shared"], rabbitmq);
    const last = { billing: dead, mail: dead };
    expect(queues).toEqual([{ ...last, "billing-before": dead }, last]);
  }
});

test("a consumer leaves the shared dead queue, and comes back to it", () => {
  const own = [lettersOf, undefined, "shared"] as const;
  const shared = [consumer, undefined, "shared"] as const;
  const apart = { billing: "letters-of-billing", mail: "shop.dead" };
  const together = { billing: "shop.dead", mail: "shop.dead" };
  expect(deadQueues(shared, own, rabbitmq)).toEqual([{ ...apart, "billing-before": "shop.dead" }, apart]);
  expect(deadQueues(own, shared, rabbitmq)).toEqual([
    { ...together, "billing-before": "letters-of-billing" },
    together,
  ]);
});

test.each([
  [rabbitmq, undefined, "shop.dead", "shop.billing.2.dead", "shop.mail.2.dead"],
  [rabbitmq, dlq, "shop.dead", "shop.billing.2-dlq", "shop.mail.2-dlq"],
  [sqs, dlq, "shop-dead", "shop-billing-2-dlq", "shop-mail-2-dlq"],
] as const)("the shared dead queue ends with its name, on %o and with %o", (target, names, dead, billing, mail) => {
  const last = { billing, mail };
  for (const [earlier, queue] of [[letters, "letters"] as const, [undefined, dead] as const]) {
    const queues = deadQueues([consumer, earlier, "shared"], [consumer, names, "own"], target);
    expect(queues).toEqual([{ ...last, ...both(queue) }, last]);
  }
});

test.each([
  [undefined, "shop.billing.dead", "shop.mail.dead"],
  [dlq, "shop.billing-dlq", "shop.mail-dlq"],
] as const)("the shared dead queue begins beside those with the names %o", (names, billing, mail) => {
  const last = { billing: "letters", mail: "letters" };
  const queues = deadQueues([consumer, names, "own"], [consumer, letters, "shared"], rabbitmq);
  expect(queues).toEqual([{ ...last, "billing-before": billing, "mail-before": mail }, last]);
});
