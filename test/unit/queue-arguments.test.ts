import { describe, expect, test } from "vitest";

import { type CompiledSystem, type TargetInput, brokers, checkSystem, compile, parseTarget } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { checked } from "../support/examples.ts";

const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };

function compiled(queueArguments: object, target: TargetInput, more: object = {}) {
  const billing = { from: { orders: "all" }, retry, queueArguments, ...more };
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } });
  return compile(system, target);
}

const rabbitmq = (version: string, strategy: TargetInput<"rabbitmq">["strategy"] = "auto"): TargetInput => ({
  broker: "rabbitmq",
  version,
  strategy,
});

function problems(result: ReturnType<typeof compiled>): readonly string[] {
  const all = result.ok ? result.warnings : result.diagnostics;
  return all.map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

test("each argument reaches the work queue by the broker's name, and no other queue", () => {
  const limits = { maxLength: 10, maxLengthBytes: 2_000, consumerTimeout: "1h" };
  const members = { singleActiveConsumer: true, queueLeaderLocator: "balanced", quorumInitialGroupSize: 5 };
  const result = compiled({ ...limits, ...members }, rabbitmq("4.3"), { handlerTimeout: "45m" }) as {
    readonly ok: true;
    readonly value: CompiledSystem<"rabbitmq">;
  };
  const { queues, policies } = result.value.topology;
  const own = {
    "x-single-active-consumer": true,
    "x-max-length": 10,
    "x-max-length-bytes": 2_000,
    "x-consumer-timeout": 3_600_000,
    "x-queue-leader-locator": "balanced",
    "x-quorum-initial-group-size": 5,
  };
  for (const { name, arguments: given } of queues) {
    if (name === "shop.billing") expect(given).toMatchObject(own);
    else for (const key of Object.keys(own)) expect(given, name).not.toHaveProperty(key);
  }
  // The argument alone decides, and not the smaller of two values.
  for (const { definition } of policies) expect(definition).not.toHaveProperty("consumer-timeout");
});

describe("a limit on the length of the work queue", () => {
  const limits = { maxLength: 10 };

  test.each(["native", "deferred"] as const)("is kept by %s, where a retry never leaves the queue", (strategy) => {
    const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
    const result = compiled(limits, rabbitmq("4.3", strategy), { protocol });
    expect(result.ok).toBe(true);
    expect(problems(result)).toEqual([
      "RD241 consumers.billing.queueArguments.maxLength: a full work queue refuses new messages, and only a publisher that waits for confirms learns it",
    ]);
  });

  test.each([
    ["4.3", "staged"],
    ["4.0", "waits"],
  ] as const)("is refused on %s with %s, and the proof finds the same", (version, strategy) => {
    expect(problems(compiled(limits, rabbitmq(version, strategy)))).toEqual([
      expect.stringMatching(/^RD202 consumers\.billing\.queueArguments\.maxLength: .* shared queue and hold up other/),
    ]);
    // Without the objection, the proof has to find a message that waits for room.
    const free = compiled({}, rabbitmq(version, strategy));
    const target = parseTarget(`rabbitmq@${version}`, strategy);
    if (!free.ok || !target.ok) throw new Error("it does not compile without a limit");
    const { topology, contracts } = free.value as CompiledSystem<"rabbitmq">;
    const limited = {
      ...(free.value as CompiledSystem<"rabbitmq">),
      contracts: contracts.map((contract) => ({ ...contract, refusesWhenFull: true as const })),
      topology: {
        ...topology,
        queues: topology.queues.map((queue) =>
          queue.role === "work" ? { ...queue, arguments: { ...queue.arguments, "x-max-length": 10 } } : queue,
        ),
      },
    };
    const verdicts = verifyAll(brokers.rabbitmq.subjectsOf(limited, target.value as never));
    const found = verdicts.flatMap(({ violations }) => violations.map(({ property, message }) => [property, message]));
    const place = strategy === "staged" ? "shop.attempt.2.1s" : "shop.wait.1000ms";
    expect(found).toContainEqual([
      "no-loss",
      expect.stringContaining(`kept inside ${place} for ever: the next queue may be full`),
    ]);
  });

  test("is in the contract's page, for producers", async () => {
    const { producersOf } = await brokers.rabbitmq.loadContractPages();
    const pageOf = (given: object): string | null => {
      const result = compiled(given, rabbitmq("4.3", "native"));
      const [contract] = result.ok ? (result.value as CompiledSystem<"rabbitmq">).contracts : [];
      return contract === undefined ? "it does not compile" : producersOf(contract);
    };
    expect(pageOf(limits)).toMatch(/^wait for confirms, and publish again later/);
    expect(pageOf({})).toBeNull();
  });

  test("is fine with any strategy if there is no retry, because nothing comes back", () => {
    const once = { retry: { attempts: 1, backoff: { kind: "immediate" } } };
    for (const version of ["3.10", "4.0"]) expect(compiled(limits, rabbitmq(version), once).ok).toBe(true);
  });

  test("is a loss for the proof if the contract does not say that the queue refuses", () => {
    const result = compiled(limits, rabbitmq("4.3", "native"));
    const target = parseTarget("rabbitmq@4.3", "native");
    if (!result.ok || !target.ok) throw new Error("it does not compile");
    const { contracts, ...rest } = result.value as CompiledSystem<"rabbitmq">;
    const silent = { ...rest, contracts: JSON.parse(JSON.stringify(contracts).replace(',"refusesWhenFull":true', "")) };
    const [verdict] = verifyAll(brokers.rabbitmq.subjectsOf(silent, target.value as never));
    expect(verdict?.violations.map(({ message }) => message).join("\n")).toContain("it can be full");
  });
});

describe("a consumer timeout", () => {
  test.each([
    ["30m", false],
    ["31m", true],
  ])("of %s with a handler of 30 minutes: accepted is %s", (consumerTimeout, isAccepted) => {
    expect(compiled({ consumerTimeout }, rabbitmq("4.0"), { handlerTimeout: "30m" }).ok).toBe(isAccepted);
  });

  test.each([
    ["3.11", false],
    ["3.12", true],
  ])("on %s: accepted is %s", (version, isAccepted) => {
    expect(compiled({ consumerTimeout: "1h" }, rabbitmq(version)).ok).toBe(isAccepted);
  });
});

test.each([
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
] as const)("$broker refuses them all at once", (target) => {
  const result = compiled({ singleActiveConsumer: true, maxLength: 10 }, target, { handlerTimeout: "10s" });
  expect(result.ok).toBe(false);
  expect(problems(result)).toEqual([
    expect.stringMatching(/^RD240 consumers\.billing\.queueArguments: queues of .* have no such arguments$/),
  ]);
});

test("a queue of each instance has none", () => {
  const cache = { from: { orders: "all" }, delivery: "every-instance", queueArguments: { singleActiveConsumer: true } };
  const result = checkSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { cache } });
  expect(result.ok ? [] : result.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "RD112 consumers.cache.queueArguments",
  ]);
});
