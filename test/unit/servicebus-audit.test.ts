import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { readIsoDuration } from "../../src/brokers/servicebus/compile/iso-duration.ts";
import { ServicebusRetryTopology } from "../../src/brokers/servicebus/make/index.ts";
import { brokers, type SystemInput, type TargetInput } from "../../src/index.ts";
import { runProgram } from "../support/pulumi.ts";

const { auditor } = brokers.servicebus;
type Properties = Readonly<Record<string, unknown>>;

function found(read: ReturnType<typeof auditor.file.read>): readonly string[] {
  if (!read.ok) return read.diagnostics.map(({ code, message }) => `${code} ${message}`);
  const target = auditor.targetOf(read.value);
  if (!target.ok || target.value === null) throw new Error("every deployment has a target");
  const diagnostics = [...read.warnings, ...auditor.audit(read.value, target.value, null)];
  return diagnostics.map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

const arm = (resources: readonly object[], rest: object = {}): string => JSON.stringify({ ...rest, resources });
const queue = (name: string, properties: Properties = {}): object => ({
  type: "Microsoft.ServiceBus/namespaces/queues",
  name,
  properties,
});
const at = "namespaces.shop.queues.orders:";

describe("an ARM template", () => {
  test.each<readonly [string, object[], string[]]>([
    [
      "P5M for five minutes",
      [queue("shop/orders", { lockDuration: "P5M" })],
      [`RD740 ${at} orders has a lock of P5M, which is 150d`],
    ],
    [
      "a lock above 5 min",
      [queue("shop/orders", { lockDuration: "PT6M" })],
      [`RD741 ${at} orders has a lock of PT6M; Service Bus takes PT5S to PT5M`],
    ],
    [
      "max delivery count 0",
      [queue("shop/orders", { maxDeliveryCount: 0 })],
      [`RD753 ${at} orders has a max delivery count of 0; Service Bus takes 1 at least`],
    ],
    [
      "all that is wrong with one queue, but no window that is too short for a lock of months",
      [
        queue("shop/orders", {
          lockDuration: "P5M",
          maxDeliveryCount: 1,
          requiresDuplicateDetection: true,
          duplicateDetectionHistoryTimeWindow: "PT10M",
          defaultMessageTimeToLive: "P1M",
        }),
      ],
      [
        `RD740 ${at} orders has a lock of P5M, which is 150d`,
        `RD740 ${at} orders has a time to live of P1M, which is 30d`,
        `RD446 ${at} orders has a max delivery count of 1: a message that loses its lock once dies, tried or not`,
        `RD748 ${at} orders drops messages that no consumer received within P1M`,
      ],
    ],
    ["a forward to itself", [queue("shop/orders", { forwardTo: "orders" })], [`RD743 ${at} orders forwards to itself`]],
    [
      "dead letters to itself",
      [queue("shop/orders", { forwardDeadLetteredMessagesTo: "orders" })],
      [`RD743 ${at} orders forwards its dead letters to itself`],
    ],
    [
      "dead letters that another queue forwards back",
      [queue("shop/orders", { forwardDeadLetteredMessagesTo: "b" }), queue("shop/b", { forwardTo: "orders" })],
      [`RD743 ${at} orders forwards its dead letters in a ring: orders → b → orders`],
    ],
    [
      "sessions with forwarding",
      [queue("shop/orders", { requiresSession: true, forwardTo: "b" }), queue("shop/b")],
      [`RD744 ${at} orders requires sessions and forwards to b`],
    ],
    [
      "forwarding into sessions",
      [queue("shop/orders", { forwardTo: "b" }), queue("shop/b", { requiresSession: true })],
      [],
    ],
    [
      "a forward to nowhere",
      [queue("shop/orders", { forwardTo: "b" })],
      [`RD742 ${at} orders forwards to b, which does not exist`],
    ],
    [
      "dead letters to nowhere",
      [queue("shop/orders", { forwardDeadLetteredMessagesTo: "b" })],
      [`RD742 ${at} orders forwards its dead letters to b, which does not exist`],
    ],
    [
      "a destination by its URL",
      [queue("shop/orders", { forwardTo: "sb://shop.servicebus.windows.net/b" }), queue("shop/b")],
      [],
    ],
    [
      "features that the basic tier lacks",
      [
        { type: "Microsoft.ServiceBus/namespaces", name: "shop", sku: { name: "Basic" } },
        { type: "Microsoft.ServiceBus/namespaces/topics", name: "shop/events" },
        queue("shop/orders", { requiresSession: true, requiresDuplicateDetection: true }),
        queue("shop/b", { forwardDeadLetteredMessagesTo: "orders" }),
      ],
      [
        "RD752 namespaces.shop: shop is in the basic tier, which has no topics (events), no sessions (orders), no duplicate detection (orders), no forwarding (b)",
      ],
    ],
    [
      "queues alone in the basic tier",
      [{ type: "Microsoft.ServiceBus/namespaces", name: "shop", sku: { name: "Basic" } }, queue("shop/orders")],
      [],
    ],
    ["the defaults of Azure", [queue("shop/orders")], []],
  ])("%s", (_, resources, expected) => expect(found(auditor.file.read(arm(resources)))).toEqual(expected));

  test("a ring and a chain are reported with the places where messages die", () => {
    const ring = [queue("shop/orders", { forwardTo: "b" }), queue("shop/b", { forwardTo: "orders" })];
    expect(found(auditor.file.read(arm(ring)))[0]).toBe(`RD743 ${at} orders forwards in a ring: orders → b → orders`);
    const chain = [0, 1, 2, 3, 4, 5].map((index) =>
      queue(`shop/q${index}`, index === 5 ? {} : { forwardTo: `q${index + 1}` }),
    );
    expect(found(auditor.file.read(arm(chain)))).toEqual([
      "RD745 namespaces.shop.queues.q0: q0 forwards over more than four hops: messages die in q4",
    ]);
  });

  test("names made by parameters, variables and functions are read", () => {
    const rest = {
      parameters: { namespaces_shop_name: { type: "String", defaultValue: "shop" } },
      variables: { queue: "orders" },
    };
    const mortal = { defaultMessageTimeToLive: "PT10M" };
    for (const name of [
      "[concat(parameters('namespaces_shop_name'), '/orders')]",
      "[format('{0}/{1}', parameters('namespaces_shop_name'), variables('queue'))]",
      "shop/orders",
    ]) {
      expect(found(auditor.file.read(arm([queue(name, mortal)], rest)))).toEqual([
        `RD748 ${at} orders drops messages that no consumer received within PT10M`,
      ]);
    }
    const nested = {
      type: "Microsoft.ServiceBus/namespaces",
      name: "[parameters('namespaces_shop_name')]",
      resources: [{ type: "queues", name: "orders", properties: mortal }],
    };
    expect(found(auditor.file.read(arm([nested], rest)))).toHaveLength(1);
    const unknown = [queue("[concat('shop/', uniqueString(resourceGroup().id))]"), queue("shop/b", { forwardTo: "c" })];
    expect(found(auditor.file.read(arm(unknown)))).toEqual([expect.stringContaining("RD409")]);
  });

  test("any other file is refused", () => {
    expect(found(auditor.file.read("{"))).toEqual([expect.stringContaining("RD002")]);
    expect(found(auditor.file.read("{}"))).toEqual([
      "RD401 this is JSON, but not a template of Azure Resource Manager",
    ]);
    expect(found(auditor.file.read(arm([{ type: "Microsoft.Web/sites", name: "a" }])))).toEqual([
      "RD401 this template has no queue, topic or subscription of Service Bus",
    ]);
  });
});

const targets: readonly TargetInput<"servicebus">[] = [
  { broker: "servicebus", sku: "standard" },
  { broker: "servicebus", sku: "standard", deadQueue: "shared", duplicates: "10m" },
];

test.each(targets)("Redeliver's own deployment has no findings: %o", async (target) => {
  const example = readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8");
  const namespaceId = "/subscriptions/1/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-eu";
  const run = await runProgram(
    () => void new ServicebusRetryTopology("shop", { system: parse(example) as SystemInput, target, namespaceId }),
  );
  const resources = run.resources.map(({ type, urn, inputs }) => ({ type, urn, provider: null, properties: inputs }));
  expect(resources.filter(auditor.resources.isOwn).length).toBeGreaterThan(3);
  const read = auditor.resources.read(resources);
  expect(read.ok && read.value.namespaces.map(({ name, entities }) => [name, entities.length])).toEqual([
    ["shop-eu", target.deadQueue === "shared" ? 6 : 5],
  ]);
  expect(found(read)).toEqual([]);
});

test("the audit finds the fault of ttl-tier", async () => {
  const example = readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8");
  const namespaceId = "/subscriptions/1/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-eu";
  const target = { broker: "servicebus", sku: "standard", strategy: "ttl-tier" } as const;
  const run = await runProgram(
    () => void new ServicebusRetryTopology("shop", { system: parse(example) as SystemInput, target, namespaceId }),
  );
  const resources = run.resources.map(({ type, urn, inputs }) => ({ type, urn, provider: null, properties: inputs }));
  expect(new Set(found(auditor.resources.read(resources)).map((each) => each.slice(0, 5)))).toEqual(new Set(["RD749"]));
});

test("a name that is still unknown is left out with a warning, and no finding depends on it", () => {
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const resource = (name: string, properties: Properties) => ({
    type: "azure-native:servicebus/v20240101:Queue",
    urn: `urn:pulumi:prod::shop::azure-native:servicebus:Queue::${name}`,
    provider: null,
    properties: { namespaceName: "shop", queueName: name, ...properties },
  });
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
  const read = auditor.resources.read([
    resource("orders", { forwardTo: unknown, lockDuration: secret, maxDeliveryCount: unknown }),
    resource("billing", { namespaceName: unknown }),
    resource("elsewhere", { forwardTo: "not-in-this-stack" }),
  ]);
  expect(found(read)).toEqual([
    "RD409 : left out, because a value that routes messages is secret, malformed or not known yet: billing",
  ]);
});

test.each([
  ["PT5M", 300_000, false],
  ["P5M", 12_960_000_000, true],
  ["P1Y", 31_536_000_000, true],
  ["P14D", 1_209_600_000, false],
  ["P2W", 1_209_600_000, false],
  ["PT0.25S", 250, false],
  ["P10675199DT2H48M5.4775807S", null, false],
] as const)("%s is %s ms", (text, durationMs, isCalendar) => {
  expect(readIsoDuration(text)).toEqual({ text, durationMs, isCalendar });
});

test.each(["", "P", "PT", "5m", "PT5", "-PT5M"])("%o is not a duration", (text) => {
  expect(readIsoDuration(text)).toBeUndefined();
});
