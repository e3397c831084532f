import { describe, expect, test } from "vitest";

import { type CompiledSystem, type TargetInput, brokers, compile, parseTarget } from "../../src/index.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { speaksAmqp091, strategiesOn } from "../support/strategies.ts";

// A queue that exists has no arguments of Redeliver's, and nobody can add them. Its settings are in its policy.

const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
const byPolicy = { queueSettings: "policy", deadLetter: { queueSettings: "policy" } };
const native = { broker: "rabbitmq", version: "4.3", strategy: "native" } as const;

const shop = (more: object = {}) => checked(shopWith({ billing: { from: { orders: "all" }, retry, ...more } }));

const cases = (["3.10", "4.0", "4.3"] as const).flatMap((version) =>
  strategiesOn(version).map((strategy) => ({ version, strategy })),
);

function compiledFor(version: string, strategy: string, more: object = byPolicy): CompiledSystem<"rabbitmq"> {
  const protocol = speaksAmqp091(strategy as never) ? "amqp-0-9-1" : "amqp-1.0";
  const target = { broker: "rabbitmq", version, strategy } as TargetInput;
  return accepted(compile(shop({ protocol, ...more }), target)) as CompiledSystem<"rabbitmq">;
}

describe.each(cases)("$strategy on $version", ({ version, strategy }) => {
  const { topology } = compiledFor(version, strategy);
  const target = accepted(parseTarget(`rabbitmq@${version}`, strategy)) as never;
  const ownOf = (queue: string): Readonly<Record<string, unknown>> =>
    topology.policies.find(({ name }) => name === queue)?.definition ?? {};

  test("the two queues have their type as the only argument, and their policies have the rest", () => {
    for (const queue of ["shop.billing", "shop.billing.dead"]) {
      const { arguments: given } = topology.queues.find(({ name }) => name === queue) ?? expect.unreachable();
      expect(given).toEqual({ "x-queue-type": "quorum" });
      expect(ownOf(queue)).toMatchObject({ overflow: "reject-publish" });
    }
    const byArguments = compiledFor(version, strategy, {}).topology;
    const { arguments: usual } = byArguments.queues.find(({ name }) => name === "shop.billing") ?? expect.unreachable();
    const structure = Object.entries(usual).flatMap(([key, value]) =>
      key === "x-queue-type" ? [] : [[key.replace("x-", ""), value] as const],
    );
    expect(structure.length).toBeGreaterThan(2);
    expect(ownOf("shop.billing")).toMatchObject(Object.fromEntries(structure));
    // The other queues are no different.
    const others = (all: typeof topology) => all.queues.filter(({ consumer }) => consumer === null);
    expect(others(topology)).toEqual(others(byArguments));
  });

  test.each(["dead-letter-exchange", "dead-letter-routing-key", "dead-letter-strategy", "overflow"])(
    "the proof needs %s in the policy",
    (left) => {
      const policies = topology.policies.map((policy) => {
        const { [left]: _, ...definition } = policy.definition;
        return policy.name === "shop.billing" ? { ...policy, definition } : policy;
      });
      const whole = compiledFor(version, strategy);
      const verdictsOf = (compiled: CompiledSystem<"rabbitmq">) =>
        verifyAll(brokers.rabbitmq.subjectsOf(compiled, target)).flatMap(({ violations }) => violations);
      expect(verdictsOf(whole)).toEqual([]);
      expect(verdictsOf({ ...whole, topology: { ...topology, policies } }).length).toBeGreaterThan(0);
    },
  );
});

test.each([
  [{ broker: "sqs", region: "eu-west-1" }, "queueSettings", "Amazon SQS"],
  [{ broker: "sqs", region: "eu-west-1" }, "deadLetter.queueSettings", "Amazon SQS"],
  [{ broker: "servicebus", sku: "standard" }, "queueSettings", "Service Bus"],
] as const)("%o refuses %s", (target, property, words) => {
  const own = property === "queueSettings" ? { queueSettings: "policy" } : { deadLetter: byPolicy.deadLetter };
  const result = compile(shop({ handlerTimeout: "10s", ...own }), target as TargetInput);
  const found = result.ok ? undefined : result.diagnostics.find(({ code }) => code === "RD240");
  expect(found?.path).toBe(`consumers.billing.${property}`);
  expect(found?.message).toContain(words);
});

test.each([
  ["the place of the settings", {}, byPolicy, {}],
  ["the strategy, although both are in the policy", byPolicy, byPolicy, { strategy: "staged" }],
] as const)("a deployment does not change %s", (_, before, after, more) => {
  const deployed = (own: object, target: TargetInput) =>
    readDeployed(shop(own) as never, target) ?? expect.unreachable();
  const [from, to] = [deployed(before, native), deployed(after, { ...native, ...more })];
  expect(refuseChange(from, to).map(({ code }) => code)).toEqual(["RD302"]);
  expect(refuseChange(from, from)).toEqual([]);
});

test("a policy of another owner that comes first is refused, because it takes the settings away", () => {
  const team = { name: "team", pattern: "^shop", priority: 2_000, definition: { "queue-leader-locator": "balanced" } };
  const target = { broker: "rabbitmq", version: "4.3", strategy: "staged", policies: [team] } as const;
  const crash = { deliveries: 21 };
  const codesOf = (own: object) => {
    const result = compile(shop({ ...own, crash }), target as TargetInput);
    return result.ok ? [] : result.diagnostics.map(({ code }) => code);
  };
  expect(codesOf({ queueSettings: "policy" })).toEqual(["RD242"]);
  const alone = { ...target, policies: [{ ...team, pattern: String.raw`^shop\.billing$` }] };
  expect(compile(shop({ crash }), alone as TargetInput)).toMatchObject({ ok: true });
});

describe("of a shared dead queue", () => {
  const shared = { ...native, deadQueue: "shared" } as const;
  const system = (billing: object, mail: object) =>
    checked({
      name: "shop",
      consumers: { billing: { retry, deadLetter: billing }, mail: { retry, deadLetter: mail } },
    });
  const byPolicyOf = (own: object = {}) => ({ queueSettings: "policy", ...own });
  const compiledOf = (billing: object, mail: object) =>
    accepted(compile(system(billing, mail), shared)) as CompiledSystem<"rabbitmq">;

  test("is where all of its consumers say", () => {
    const { topology } = compiledOf(byPolicyOf(), byPolicyOf());
    const dead = topology.queues.filter(({ role }) => role === "dead");
    expect(dead).toMatchObject([{ name: "shop.dead", arguments: { "x-queue-type": "quorum" } }]);
    const { definition } = topology.policies.find(({ name }) => name === "shop.dead") ?? expect.unreachable();
    expect(definition).toMatchObject({ overflow: "reject-publish" });
  });

  test("a consumer with a dead queue of its own says it for that one", () => {
    const { topology } = compiledOf(byPolicyOf({ queue: "letters" }), {});
    const bare = topology.queues.filter((each) => Object.keys(each.arguments).length === 1);
    expect(bare.map(({ name }) => name)).toEqual(["letters"]);
  });

  test.each([
    ["another place", byPolicyOf(), { queueSettings: "arguments" }, "mail"],
    ["no place", byPolicyOf(), {}, "mail"],
    ["no place before one that says it", {}, byPolicyOf(), "billing"],
  ])("is refused if a consumer says %s", (_, billing, mail, refused) => {
    const result = compile(system(billing, mail), shared);
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      { code: "RD240", path: `consumers.${refused}.deadLetter.queueSettings` },
    ]);
    expect(compile(system({ queueSettings: "arguments" }, {}), shared).ok).toBe(true);
  });

  test("is nothing for a consumer whose every instance gets all messages, because it has no dead queue", () => {
    const cache = { from: { orders: "all" }, delivery: "every-instance" };
    const declared = checked(shopWith({ billing: { retry, deadLetter: byPolicyOf() }, cache }));
    expect(compile(declared, shared).ok).toBe(true);
  });

  test("does not change by a deployment, and stays when one consumer leaves", () => {
    const deployed = (declared: ReturnType<typeof system>) =>
      readDeployed(declared as never, shared) ?? expect.unreachable();
    const [from, to] = [deployed(system(byPolicyOf(), byPolicyOf())), deployed(system({}, {}))];
    expect(refuseChange(from, to).map(({ code }) => code)).toEqual(["RD302"]);
    const alone = checked({ name: "shop", consumers: { mail: { retry, deadLetter: byPolicyOf() } } });
    expect(refuseChange(from, deployed(alone as never))).toEqual([]);
  });
});
