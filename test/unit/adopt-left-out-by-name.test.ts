import { expect, test } from "vitest";

import { adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { armTemplate } from "../support/servicebus/arm-template.ts";
import { queue, redriveTo } from "../support/sqs-listing.ts";

// A queue that is left out by its name alone is in the list, so that a person can name it with --queue.

const said = (facts: readonly string[]) =>
  facts.flatMap((each) => /^(\S+): by its name it holds (failed messages|copies)/.exec(each)?.slice(1).join(" ") ?? []);

test("on Amazon SQS, but for the dead-letter queues of others", () => {
  const listing = [
    queue("orders", redriveTo("orders-dlq")),
    ...["orders-dlq", "error", "payment-failed", "audit"].map((name) => queue(name)),
  ];
  const adopted = adoptText(JSON.stringify(listing), "sqs@eu-west-1", "shop", "sqs");
  expect(said(factsOf(adopted))).toEqual(["error failed messages", "payment-failed failed messages", "audit copies"]);
});

test("on Azure Service Bus, but for queues that dead letters are forwarded to, and for subscriptions", () => {
  const adopted = adoptText(
    armTemplate([
      ["queues", "billing", { forwardDeadLetteredMessagesTo: "failed" }],
      ["queues", "failed"],
      ["queues", "error"],
      ["queues", "audit"],
      ["topics", "orders"],
      ["subscriptions", "orders/reply", { forwardTo: "billing" }],
      ["rules", "orders/reply/$Default", { filterType: "SqlFilter", sqlFilter: { sqlExpression: "1=1" } }],
    ]),
    "servicebus@standard",
    "shop",
    "servicebus",
  );
  expect(said(factsOf(adopted)).toSorted()).toEqual(["audit copies", "error failed messages"]);
});
