import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { ServicebusTarget, Sku } from "../../src/brokers/servicebus/compile/capabilities.ts";
import type { EmulatorConfig } from "../../src/brokers/servicebus/make/export.ts";
import { forEver, isoDuration } from "../../src/brokers/servicebus/compile/iso-duration.ts";
import { diagnoseQuotas } from "../../src/brokers/servicebus/compile/quotas.ts";
import type { ServicebusTopology } from "../../src/brokers/servicebus/compile/topology.ts";
import { checkTarget } from "../../src/brokers/index.ts";
import { brokers, checkSystem, compile, compileAndProve, parseTarget, type TargetInput } from "../../src/index.ts";
import { accepted, checked, oneConsumer, shopWith } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

const standard = { broker: "servicebus", sku: "standard" } as const;
const retry = { attempts: 3, backoff: { kind: "constant", delay: "30s" } };
const atOnce = { attempts: 3, backoff: { kind: "immediate" } };
const billing = { from: { orders: ["order.placed"] }, retry, handlerTimeout: "10s" };

/** What is compiled, or a failed test. */
function compiled(consumer: Record<string, unknown>, target: object = standard) {
  const result = compile<"servicebus">(checked(oneConsumer(consumer)), target as TargetInput<"servicebus">);
  if (!result.ok) throw new Error("it does not compile");
  return result;
}

/** The diagnostics about one consumer or its target: code, path and message. */
function said(consumer: object, target: object = standard, name = "billing"): readonly string[] {
  const system = checkSystem({
    name: "shop",
    sources: { orders: { kind: "topic" }, payments: { kind: "topic" } },
    consumers: { [name]: { ...billing, ...consumer } },
  });
  if (!system.ok) return system.diagnostics.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  const result = compile(system.value, target as TargetInput<"servicebus">);
  const diagnostics = result.ok ? result.warnings : result.diagnostics;
  return diagnostics
    .filter(({ code }) => code !== "RD207")
    .map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

describe("bad input gives one diagnostic, with both numbers", () => {
  test.each<readonly [string, object, object, string]>([
    ["P5M for five minutes", {}, { lock: "P5M" }, 'RD221 target.lock: "P5M" is no duration'],
    ["a lock above 5 min", {}, { lock: "6m" }, "RD221 target.lock: 6m is out of range: from 5s to 5m"],
    ["a lock below 5 s", {}, { lock: "4s" }, "RD221 target.lock: 4s is out of range: from 5s to 5m"],
    ["a window of 8 days", {}, { duplicates: "8d" }, "RD221 target.duplicates: 8d is out of range: from 20s to 7d"],
    [
      "a window of one consumer",
      {},
      { duplicates: { billing: "10x" } },
      'RD221 target.duplicates.billing: "10x" is no duration',
    ],
    [
      "a window of an unknown consumer",
      {},
      { duplicates: { biling: "10m" } },
      'RD221 target.duplicates.biling: "biling" is no consumer with a work queue',
    ],
    ["windows as a list", {}, { duplicates: ["10m"] }, 'RD221 target.duplicates: ["10m"] is no duration'],
    [
      "the basic tier with duplicates",
      { from: { orders: "all" } },
      { sku: "basic", duplicates: "10m" },
      "RD704 target.duplicates: the basic tier has no duplicate detection",
    ],
    [
      "the basic tier with forwarding",
      { from: { orders: "all" } },
      { sku: "basic", deadQueue: "shared" },
      "RD704 target.deadQueue: the basic tier has no forwarding",
    ],
    [
      "the basic tier with topics",
      {},
      { sku: "basic" },
      "RD704 consumers.billing.from.orders: orders is taken by routing key, and only a topic distinguishes routing keys",
    ],
    [
      "the basic tier with sessions",
      { from: { orders: "all" }, retry: atOnce, order: "per-key" },
      { sku: "basic" },
      "RD704 consumers.billing.order: order per key needs sessions",
    ],
    ["max delivery count 0", { crash: { deliveries: 0 } }, {}, "RD104 consumers.billing.crash.deliveries"],
    [
      "delays with sessions",
      { order: "per-key" },
      {},
      "RD203 consumers.billing.retry.backoff: servicebus@standard has no strategy that keeps the declaration of billing",
    ],
    [
      "sessions with two sources",
      { from: { orders: "all", payments: "all" }, retry: atOnce, order: "per-key" },
      {},
      "RD710 consumers.billing.from: billing takes 2 sources in order",
    ],
    [
      "duplicate rules",
      { from: { orders: ["order.*", "order.one-word"] } },
      {},
      'RD205 consumers.billing.from: "order.one-word" would be a rule of billing on shop.orders',
    ],
    ["an unknown tier", {}, { sku: "gold" }, 'RD201 target.sku: "gold" is no tier of Service Bus'],
    ["an unknown option", {}, { locks: "1m" }, 'RD221 target.locks: "locks" is no option of a target for Service Bus'],
    [
      "a strategy of another broker",
      {},
      { strategy: "staged" },
      'RD201 target.strategy: "staged" is no strategy of Service Bus',
    ],
    [
      "jitter with ttl-tier",
      { retry: { ...retry, backoff: { ...retry.backoff, jitter: "20%" } } },
      { strategy: "ttl-tier" },
      "RD202 consumers.billing.retry.backoff.jitter",
    ],
    ["a long routing key", { from: { orders: ["a".repeat(51)] } }, {}, "RD216 consumers.billing.from.orders[0]"],
  ])("%s", (_, consumer, options, expected) => {
    const found = said(consumer, { ...standard, ...options });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test("a name of 261 characters, and a subscription name of 51", () => {
    expect(said({}, standard, "b".repeat(51))).toEqual([
      `RD204 consumers.${"b".repeat(51)}: a subscription name derived from this would have 51 characters; 50 are allowed`,
    ]);
    expect(said({}, standard, "b".repeat(50))).toEqual([]);
    const named = (name: string, source: string): readonly string[] => {
      const consumers = { billing: { ...billing, from: { [source]: "all" } } };
      const result = compile(checked({ name, sources: { [source]: { kind: "topic" } }, consumers }), standard);
      return result.ok ? [] : result.diagnostics.map(({ message }) => message);
    };
    // A source's own name has at most 255 characters, so the rest belongs to the system.
    expect(named("shop", "o".repeat(255))).toEqual([]);
    expect(named("s".repeat(10), "o".repeat(250))).toEqual([
      "a topic name derived from this would have 261 characters; 260 are allowed",
      expect.stringContaining("is returned"),
    ]);
  });

  test("each consumer can have its own window of duplicate detection", () => {
    const consumer = { from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "immediate" } } };
    const duplicates = { billing: "10m", mail: "5m" } as const;
    const system = checked(shopWith({ billing: consumer, mail: consumer, stock: consumer }));
    const { compiled: all, target } = accepted(compileAndProve<"servicebus">(system, { ...standard, duplicates }));
    const windows = all.topology.queues.map(({ duplicateDetectionMs }) => duplicateDetectionMs);
    expect(windows).toEqual([600_000, 300_000, null]);
    expect(checkTarget(target)).toEqual({ ok: true, value: target, warnings: [] });
  });

  test("a refused target changes nothing", () => {
    const target = parseTarget("servicebus@gold");
    expect(target.ok).toBe(false);
    expect(brokers.servicebus.checkTarget({ ...standard, lock: "30s" })).toMatchObject({
      ok: true,
      value: { sku: "standard", lockMs: 30_000, duplicateDetectionMs: null, deadQueue: "own" },
    });
  });
});

describe("quotas: the maximum passes, and one more does not", () => {
  const named = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);
  /** A topology from counts alone, for the quotas. */
  const topology = (counts: { queues?: number; subscriptions?: number; sql?: number; correlation?: number }) => {
    const rules = [
      { name: "$Default", filter: { kind: "false" } },
      ...named(counts.sql ?? 0).map((name) => ({ name, filter: { kind: "sql", expression: name } })),
      ...named(counts.correlation ?? 0).map((name) => ({ name, filter: { kind: "correlation", subject: name } })),
    ];
    const [first, ...others] = named(counts.subscriptions ?? 1);
    return {
      queues: named(counts.queues ?? 0).map((name) => ({ name })),
      topics: [{ name: "shop.orders", source: "orders" }],
      subscriptions: [
        { topic: "shop.orders", name: first, rules },
        ...others.map((name) => ({ topic: "shop.orders", name, rules: [rules[0]] })),
        { topic: "shop.payments", name: "other", rules },
      ],
    } as unknown as ServicebusTopology;
  };
  const problems = (counts: Parameters<typeof topology>[0], sku: Sku = "standard"): readonly string[] => {
    const target = { broker: "servicebus", sku } as unknown as ServicebusTarget;
    return diagnoseQuotas(topology(counts), target).map(({ code, path, message }) => `${code} ${path}: ${message}`);
  };

  const namespace = (sku: Sku): string => `RD219 consumers: the namespace of the ${sku} tier would have`;
  const topic = "RD219 sources.orders: the topic shop.orders would have";

  test.each<readonly [Parameters<typeof problems>[0], Sku, string]>([
    [{ queues: 10_000 }, "standard", `${namespace("standard")} 10,001 queues and topics; 10,000 are allowed`],
    [{ queues: 10_000 }, "basic", `${namespace("basic")} 10,001 queues and topics; 10,000 are allowed`],
    [
      { queues: 1_000 },
      "premium",
      "RD220 consumers: the namespace of the premium tier would have 1,001 queues and topics; 1,000 are allowed for each of its messaging units",
    ],
    [{ subscriptions: 2_001 }, "standard", `${topic} 2,001 subscriptions; 2,000 are allowed`],
    [{ sql: 2_001 }, "standard", `${topic} 2,001 SQL filters; 2,000 are allowed`],
    [{ correlation: 100_001 }, "premium", `${topic} 100,001 correlation filters; 100,000 are allowed`],
  ])("%o in the %s tier", (counts, sku, expected) => {
    expect(problems(counts, sku)).toEqual([expected]);
    const [[key = "", count = 0] = []] = Object.entries(counts);
    expect(problems({ [key]: count - 1 }, sku)).toEqual([]);
  });

  test("a premium namespace has at most 64 messaging units, and a warning names the needed number", () => {
    const [warning] = diagnoseQuotas(topology({ queues: 63_999 }), { sku: "premium" } as ServicebusTarget);
    expect([warning?.code, warning?.help]).toEqual(["RD220", "deploy to a namespace with 64 messaging units or more"]);
    expect(problems({ queues: 64_000 }, "premium")[0]).toContain("64,001 queues and topics; 64,000 are allowed");
  });
});

describe("the warning about a returned message", () => {
  const warned = (consumer: object) =>
    compiled({ ...billing, ...consumer })
      .warnings.filter(({ code }) => code === "RD207")
      .map(({ path, value, help }) => `${path} = ${String(value)}: ${help?.split(", or ")[1]}`);

  test("names the deciding field, its value in the declaration, and the edit", () => {
    expect(warned({ crash: { deliveries: 4 } })).toEqual([
      "consumers.billing.crash.deliveries = 4: raise crash.deliveries above 4",
    ]);
    expect(warned({})).toEqual(["consumers.billing.retry.attempts = 3: declare crash.deliveries above 3"]);
    expect(warned({ retry: { ...retry, giveUpAfter: "40s" } })).toEqual([
      "consumers.billing.retry.attempts = 3: declare crash.deliveries above 2",
    ]);
    expect(warned({ retry: atOnce })).toEqual(["consumers.billing.retry.attempts = 3: raise retry.attempts"]);
  });
});

describe("a duration of ISO 8601", () => {
  test.each([
    [0, "PT0S"],
    [250, "PT0.25S"],
    [30_000, "PT30S"],
    [60_000, "PT1M"],
    [300_000, "PT5M"],
    [90_061_001, "P1DT1H1M1.001S"],
    [1_209_600_000, "P14D"],
    [null, forEver],
  ])("%s ms is %s", (durationMs, text) => expect(isoDuration(durationMs)).toBe(text));

  test("has no months, and keeps every millisecond", () => {
    forAll(100, [fc.integer({ min: 0, max: 10_000_000_000_000 })], (durationMs) => {
      const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(isoDuration(durationMs));
      const [days, hours, minutes, seconds] = (match ?? []).slice(1).map((part) => Number(part ?? 0));
      const sum = (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60;
      expect(Math.round(sum * 1_000 + (seconds ?? 0) * 1_000)).toBe(durationMs);
    });
  });
});

test("a lock is renewed for as long as the handler runs, and a session's lock for as long as possible", () => {
  const contractOf = (consumer: Record<string, unknown>) => compiled(consumer).value.contracts[0];
  expect(contractOf({ ...billing, handlerTimeout: "20m" })?.receive.lockRenewalMs).toBe(1_210_000);
  expect(contractOf({ retry })?.receive.lockRenewalMs).toBe(300_000);
  const inOrder = contractOf({ ...billing, retry: atOnce, order: "per-key" });
  expect(inOrder?.receive).toMatchObject({ sessions: true, lockRenewalMs: 24 * 86_400_000 });
  expect(inOrder?.receive.lockRenewalMs).toBeLessThan(2 ** 31);
  expect(Object.values(inOrder?.calls.deadLetter ?? {})).toHaveLength(3);
});

interface Namespace {
  readonly Topics: readonly { readonly Subscriptions: readonly { readonly Rules: unknown }[] }[];
}

describe("the configuration file of the official emulator", () => {
  const config = (consumer: Record<string, unknown>, target: object = standard) => {
    const { value } = compiled(consumer, target);
    const { diagnoseExport, exportFormats } = brokers.servicebus;
    const found = diagnoseExport?.(value, "emulator-config") ?? [];
    return {
      found: found.map(({ code, message }) => `${code} ${message}`).filter((each) => !each.startsWith("RD718")),
      file: exportFormats["emulator-config"]?.(value, null),
    };
  };

  test("has every property that the emulator knows", () => {
    const { found, file } = config(
      { ...billing, crash: { deliveries: 4 } },
      { ...standard, lock: "30s", duplicates: "2m" },
    );
    expect(found).toEqual([]);
    expect(file).toMatchObject({
      UserConfig: {
        Namespaces: [
          {
            Name: "sbemulatorns",
            Queues: [
              {
                Name: "shop.billing",
                Properties: {
                  DeadLetteringOnMessageExpiration: true,
                  DefaultMessageTimeToLive: "PT1H",
                  DuplicateDetectionHistoryTimeWindow: "PT2M",
                  ForwardDeadLetteredMessagesTo: "",
                  ForwardTo: "",
                  LockDuration: "PT30S",
                  MaxDeliveryCount: 4,
                  RequiresDuplicateDetection: true,
                  RequiresSession: false,
                },
              },
            ],
            Topics: [
              {
                Name: "shop.orders",
                Subscriptions: [
                  {
                    Name: "billing",
                    Properties: { ForwardTo: "shop.billing" },
                    Rules: [
                      {
                        Name: "order.placed",
                        Properties: { FilterType: "Correlation", CorrelationFilter: { Label: "order.placed" } },
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
      },
    });
  });

  test("admits the declared messages, and has no forbidden rule name", () => {
    const rulesOf = (keys: unknown): unknown => {
      const { file } = config({ ...billing, from: { orders: keys } });
      const [{ Topics = [] } = {}] = (file as EmulatorConfig).UserConfig.Namespaces as readonly Namespace[];
      return Topics[0]?.Subscriptions[0]?.Rules;
    };
    expect(rulesOf("all"), "without a rule the emulator lets in everything").toEqual([]);
    const all = { Name: "any-words", Properties: { FilterType: "Sql", SqlFilter: { SqlExpression: "1=1" } } };
    expect(rulesOf(["#"])).toEqual([all]);
  });

  test("is refused beyond the emulator's limits, with both numbers", () => {
    const patterns = Array.from({ length: 71 }, (_, index) => `order-${index}.*`);
    const beyond: readonly (readonly [object, object, string])[] = [
      [{ crash: { deliveries: 11 } }, {}, "the max delivery count is 11; the emulator takes 10"],
      [{}, { lock: "5500ms" }, "the lock is 5s 500ms; the emulator takes whole seconds"],
      [{}, { duplicates: "10m" }, "the window of duplicate detection is 10m; the emulator takes 5m"],
      [{}, { strategy: "ttl-tier" }, "the time to live of a tier is 30s; the emulator takes 5m to 1h"],
      [{ from: { orders: patterns } }, {}, "there are 71 SQL filters of shop.orders; the emulator takes 70"],
    ];
    for (const [consumer, target, message] of beyond)
      expect(config({ ...billing, ...consumer }, { ...standard, ...target }).found).toEqual([`RD717 ${message}`]);
    const consumers = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`c${index}`, billing]));
    const many = accepted(
      compile<"servicebus">(checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers }), standard),
    );
    expect(brokers.servicebus.diagnoseExport?.(many, "emulator-config").map(({ message }) => message)).toEqual([
      "there are 52 queues and topics; the emulator takes 50",
      "there are 51 subscriptions of shop.orders; the emulator takes 50",
      expect.stringContaining("keeps a message for 1h"),
    ]);
  });
});
