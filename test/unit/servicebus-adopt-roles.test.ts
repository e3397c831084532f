import { describe, expect, test } from "vitest";

import { inferSystem } from "../../src/brokers/servicebus/foreign/adopt/infer.ts";
import { brokers, compileAndProve, parseTarget } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { judgeDrift } from "../../src/migrate/judge-drift.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { accepted, checked } from "../support/examples.ts";
import { adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { type ArmEntity, armTemplate } from "../support/servicebus/arm-template.ts";

// The queues and subscriptions that consumers receive from, beside those that only look like them.

const adopt = (entities: readonly ArmEntity[]): Adopted =>
  adoptText(armTemplate(entities), "servicebus@standard", "shop", "servicebus");
const consumersIn = ({ draft }: Adopted): readonly string[] => Object.keys(draft.system.consumers);
const effectOf = ({ judged }: Adopted, name: string) => judged?.find((each) => each.name === name);

const all = { filterType: "SqlFilter", sqlFilter: { sqlExpression: "1=1" } };
const label = (text: string) => ({ filterType: "CorrelationFilter", correlationFilter: { label: text } });
/** A subscription that lets in everything. */
const subscribed = (path: string, properties: Readonly<Record<string, unknown>> = {}): readonly ArmEntity[] => [
  ["topics", path.split("/")[0] ?? ""],
  ["subscriptions", path, properties],
  ["rules", `${path}/$Default`, all],
];

describe("a consumer that receives from a subscription takes over no queue", () => {
  test("of failures: its new queue has another name", () => {
    const adopted = adopt([
      ["queues", "billing"],
      ["queues", "Error"],
      ["queues", "error.2"],
      ...subscribed("ev/error"),
    ]);
    expect(adopted.draft.system.consumers).toMatchObject({ billing: {}, error: { queue: "error.3" } });
    expect(adopted.proved.compiled.contracts.map(({ workQueue }) => workQueue)).toEqual(["billing", "error.3"]);
    expect(effectOf(adopted, "Error")).toBeUndefined();
  });

  test("nor a topic of its name", () => {
    const adopted = adopt([["queues", "billing"], ...subscribed("mail/mail")]);
    expect(adopted.draft.system.consumers).toMatchObject({ mail: { queue: "mail.2" } });
  });

  test("of another consumer, who keeps the queue", () => {
    const adopted = adopt([
      ...subscribed("ev/mail", { maxDeliveryCount: 7 }),
      ["queues", "mail", { maxDeliveryCount: 2 }],
    ]);
    expect(adopted.draft.system.consumers).toMatchObject({ mail: { retry: { attempts: 2 } } });
    expect(adopted.refused).toEqual([
      { place: "ev/Subscriptions/mail", fact: expect.stringMatching(/^it is left out: mail is the name of another/) },
    ]);
  });

  test("unless it stays in its subscription with sessions", () => {
    const adopted = adopt([
      ["queues", "billing"],
      ["queues", "error"],
      ...subscribed("ev/error", { requiresSession: true }),
    ]);
    expect(adopted.draft.system.consumers["error"]).not.toHaveProperty("queue");
  });
});

test.for<readonly ["queues" | "subscriptions", readonly ArmEntity[], string]>([
  ["subscriptions", subscribed("ev/mail", { forwardTo: "[reference('x').name]" }), "ev/Subscriptions/mail"],
  ["queues", [["queues", "mail", { forwardTo: "[reference('x').name]" }]], "mail"],
])("one of %s is left out if nothing shows that it does not forward", ([, entities, place]) => {
  const adopted = adopt([["queues", "orders"], ...entities]);
  expect(consumersIn(adopted)).toEqual(["orders"]);
  expect(adopted.refused).toEqual([{ place, fact: expect.stringMatching(/nothing shows if it forwards/) }]);
});

test("unknown settings are told by Azure's names, and nothing follows from their defaults", () => {
  const unknown = "[reference('x').value]";
  const adopted = adopt([
    ["queues", "orders", { maxDeliveryCount: unknown, deadLetteringOnMessageExpiration: unknown }],
  ]);
  const names = "deadLetteringOnMessageExpiration, maxDeliveryCount";
  expect(factsOf(adopted)).toContain(
    `orders: the input does not show the value of ${names}, so Azure's own is declared`,
  );
  expect(factsOf(adopted).filter((each) => each.includes("drops expired messages"))).toEqual([]);
});

test("the namespace's own name may differ in case", () => {
  const type = "Microsoft.ServiceBus/namespaces";
  const resources = [
    { type, name: "Shop", sku: { name: "Standard" } },
    ...["shop/orders", "SHOP/billing"].map((name) => ({ type: `${type}/queues`, name, properties: {} })),
  ];
  const adopted = adoptText(JSON.stringify({ resources }), "servicebus@standard", "shop", "servicebus");
  expect(consumersIn(adopted)).toEqual(["orders", "billing"]);
});

describe("queues that forward their dead letters to one queue", () => {
  const waiting = { deadLetteringOnMessageExpiration: true, forwardDeadLetteredMessagesTo: "desk" };
  const after = (time: string) => ({ ...waiting, defaultMessageTimeToLive: time });

  test.for<readonly [what: string, entities: readonly ArmEntity[], work: readonly string[]]>([
    [
      "of days are work queues",
      [
        ["queues", "orders", after("P14D")],
        ["queues", "bills", after("P7D")],
      ],
      ["orders", "bills"],
    ],
    ["of days wait, if the name says so", [["queues", "later", after("P2D")]], ["desk"]],
    ["of days wait, if the name is that of the work queue", [["queues", "desk.2d", after("P2D")]], ["desk"]],
    ["of minutes wait", [["queues", "slot", after("PT1M")]], ["desk"]],
  ])("%s", ([, entities, work]) => {
    expect(consumersIn(adopt([...entities, ["queues", "desk"]]))).toEqual(work);
  });

  test("are told with the way to choose", () => {
    const adopted = adopt([
      ["queues", "slot", after("PT1M")],
      ["queues", "desk"],
    ]);
    expect(factsOf(adopted)).toContainEqual(expect.stringMatching(/If consumers receive from one of these, .*--queue/));
  });

  test("lose expired ones there, and the fix names that queue", () => {
    const { findings } = adopt([
      ["queues", "slot", after("PT1M")],
      ["queues", "desk"],
    ]);
    expect(findings).toMatchObject([{ code: "RD746", help: "switch on dead-lettering on expiry in desk" }]);
  });
});

test("a second stage has a consumer, because it makes dead letters of dead letters", () => {
  const adopted = adopt([
    ["queues", "fast", { forwardDeadLetteredMessagesTo: "slow" }],
    ["queues", "slow", { forwardDeadLetteredMessagesTo: "end" }],
    ["queues", "end"],
  ]);
  expect(consumersIn(adopted)).toEqual(["fast", "slow"]);
  expect(factsOf(adopted)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^fast: its dead letters go to slow, whose consumer works on them today/),
      expect.stringMatching(/^slow: its dead letters are forwarded to end/),
    ]),
  );
});

test("each queue keeps its own duplicate detection, and another one changes the behaviour", () => {
  const detecting = { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT10M" };
  const template = armTemplate([
    ["queues", "pay", detecting],
    ["queues", "ship"],
  ]);
  const { draft, judged, imports } = adoptText(template, "servicebus@standard", "shop", "servicebus");
  expect(draft.options).toEqual({ duplicates: { pay: "10m" } });
  expect(judged?.filter(({ effect }) => effect !== "harmless")).toEqual([]);
  expect(imports.left).toEqual([]);
  const read = accepted(brokers.servicebus.auditor.file.read(template));
  const target = { broker: "servicebus", sku: "standard", duplicates: { ship: "10m" } } as const;
  const proved = accepted(compileAndProve<"servicebus">(checked(draft.system), target));
  const drift = accepted(brokers.servicebus.differ.compare(read, proved.compiled, proved.target));
  expect(judgeDrift(drift)).toMatchObject([
    { name: "pay", effect: "otherwise", reason: "Service Bus drops a duplicate there that comes within 10m" },
    { name: "ship", effect: "otherwise", reason: "Service Bus drops no duplicates there, so they reach the handler" },
  ]);
});

test.for<readonly [string, readonly ArmEntity[], string]>([
  ["a subscription", subscribed("ev/pod-7", { autoDeleteOnIdle: "PT5M" }), "ev/Subscriptions/pod-7"],
  ["a queue", [["queues", "pod-7", { autoDeleteOnIdle: "PT5M" }]], "pod-7"],
])("%s that Azure deletes after minutes belongs to an instance", ([, entities, place]) => {
  // MassTransit gives queues 427 days.
  const adopted = adopt([["queues", "work", { autoDeleteOnIdle: "P427D" }], ...entities]);
  expect(consumersIn(adopted)).toEqual(["work"]);
  expect(factsOf(adopted)).toContain(`${place}: the broker deletes it by itself, so it belongs to one instance`);
  const read = accepted(brokers.servicebus.auditor.file.read(armTemplate(entities)));
  const target = accepted(parseTarget("servicebus@standard"));
  if (target.broker !== "servicebus") throw new Error("the target is one of Service Bus");
  // A person may know better.
  expect(accepted(inferSystem(read, target, [place])).consumers).toMatchObject([{ queue: place }]);
});

test("a subscription by a label that names no rule stays, and its queue is declared", () => {
  const adopted = adopt([
    ["queues", "billing"],
    ["topics", "ev"],
    ["subscriptions", "ev/billing", { forwardTo: "billing" }],
    ["rules", "ev/billing/f", label("Order Placed")],
  ]);
  expect(adopted.draft.system.consumers["billing"]).not.toHaveProperty("from");
  expect(adopted.refused).toEqual([]);
  expect(factsOf(adopted)).toContainEqual(
    expect.stringMatching(/^ev: the subscription billing stays .*"Order Placed"/),
  );
});

test("names may differ in case", () => {
  const adopted = adopt([
    ["queues", "Orders", { forwardDeadLetteredMessagesTo: "Failures" }],
    ["queues", "failures"],
    ["topics", "Ev"],
    ["subscriptions", "ev/Orders", { forwardTo: "orders" }],
    ["rules", "Ev/orders/placed", label("placed")],
    [
      "queues",
      "Orders-Retry",
      {
        defaultMessageTimeToLive: "PT1M",
        deadLetteringOnMessageExpiration: true,
        forwardDeadLetteredMessagesTo: "sb://shop.servicebus.windows.net/orders",
      },
    ],
  ]);
  expect(adopted.draft.system.consumers).toMatchObject({
    Orders: { from: { Ev: ["placed"] }, retry: { backoff: { delay: "1m" } } },
  });
  expect(consumersIn(adopted)).toEqual(["Orders"]);
  expect(adopted.findings.filter(({ code }) => code === "RD742")).toEqual([]);
});

test("a queue with sessions that a subscription forwards into is a consumer in order, and the subscription stays", () => {
  const adopted = adopt([
    ["queues", "billing"],
    ["queues", "cmd", { requiresSession: true }],
    ...subscribed("orders/cmd", { forwardTo: "cmd" }),
  ]);
  expect(consumersIn(adopted)).toEqual(["billing", "cmd"]);
  expect(adopted.draft.system.sources).toBeUndefined();
  expect(adopted.draft.system.consumers["cmd"]).toMatchObject({ order: "per-key" });
  expect(adopted.draft.system.consumers["cmd"]).not.toHaveProperty("from");
  expect(adopted.findings).toEqual([]);
  expect(adopted.unsaid).toContainEqual({
    place: "cmd",
    fact: expect.stringMatching(/^orders\/Subscriptions\/cmd goes on forwarding into it/),
  });
});

test("a queue that is disabled, and one that another queue forwards to, are named", () => {
  const adopted = adopt([
    ["queues", "billing", { status: "ReceiveDisabled" }],
    ["queues", "legacy", { forwardTo: "billing" }],
  ]);
  expect(consumersIn(adopted)).toEqual(["billing"]);
  expect(adopted.unsaid).toEqual(
    expect.arrayContaining([
      { place: "billing", fact: "its status is ReceiveDisabled today, and a deployment makes it Active" },
      { place: "billing", fact: "messages of legacy are forwarded into it, which stays so" },
    ]),
  );
});

test("a topic that cannot change is named with the reason", () => {
  const adopted = adopt([
    ["queues", "billing"],
    ["topics", "payments", { requiresDuplicateDetection: true }],
    ["subscriptions", "payments/billing", { forwardTo: "billing" }],
    ["rules", "payments/billing/$Default", all],
  ]);
  expect(renderAdoption(adopted, false, null)).toContain(
    "topic payments: requiresDuplicateDetection is true, declared is false",
  );
  expect(adopted.unsaid).toContainEqual({
    place: "payments",
    fact: expect.stringMatching(/^it detects duplicates, .*Azure would refuse the deployment/),
  });
});

test("subscriptions and queues that forward into a topic are named beside it", () => {
  const { draft } = adopt([
    ["queues", "billing"],
    ["queues", "inbox", { forwardTo: "orders" }],
    ...subscribed("orders/billing", { forwardTo: "billing" }),
    ...subscribed("all/mirror", { forwardTo: "orders" }),
  ]);
  const comment = draft.comments.find(({ path }) => path.join(".") === "sources.orders")?.text;
  expect(comment).toMatch(/; inbox, all\/Subscriptions\/mirror lead into it and stay as they are$/);
});
