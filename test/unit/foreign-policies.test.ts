import { describe, expect, test } from "vitest";

import type { ForeignPolicyInput } from "../../src/brokers/rabbitmq/compile/foreign-policies.ts";
import { brokers, compile, compileAndProve, type TargetInput } from "../../src/index.ts";
import { deployedOf } from "../../src/migrate/deployed.ts";
import { driftFrom, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { proveChange } from "../../src/migrate/prove-change.ts";
import { accepted, checked, oneConsumer, shopWith } from "../support/examples.ts";

const retry = (delay: string): object => ({ attempts: 3, backoff: { kind: "constant", delay } });
const system = (more: Record<string, unknown> = {}) => checked(oneConsumer({ retry: retry("10s"), ...more }));

function targetOf(policies: readonly unknown[], more: object = {}): TargetInput<"rabbitmq"> {
  const given = policies as readonly ForeignPolicyInput[];
  return { broker: "rabbitmq", version: "4.3", strategy: "staged", policies: given, ...more };
}

/** An operator's policy for all queues. */
function limits(definition: object, more: object = {}): object {
  return { name: "limits", kind: "operator", pattern: "^shop", applyTo: "queues", definition, ...more };
}

/** A user policy that takes the place of the compiled one. */
function takeover(definition: object, more: object = {}): object {
  return { name: "takeover", pattern: "^shop\\.billing$", applyTo: "queues", priority: 2_000, definition, ...more };
}

const own = accepted(compile(system(), targetOf([])));
const ownDefinition = own.topology.policies.find(({ name }) => name === "shop.billing")?.definition ?? {};
const tier = own.topology.queues.find(({ role }) => role === "tier")?.name ?? "";

describe("the proof with policies of others", () => {
  test("nothing is there without them", () => {
    expect(own.topology.assumed).toBeUndefined();
    expect(accepted(compile(system(), { broker: "rabbitmq", version: "4.3", strategy: "staged" }))).toEqual(own);
  });

  test.for<readonly [string, object, object?]>([
    ["a policy of a lower priority", takeover({ "message-ttl": 1 }, { priority: 999 })],
    ["a policy for other queues", limits({ "message-ttl": 1 }, { pattern: "^store" })],
    ["a looser limit for the work queue", limits({ "delivery-limit": 100 }, { pattern: "^shop\\.billing$" })],
    ["a looser time to live for the tiers", limits({ "message-ttl": 60_000 }, { pattern: "^shop\\.retry" })],
    ["the compiled values and a place", takeover({ ...ownDefinition, "queue-leader-locator": "balanced" })],
    ["a whole policy that quorum queues refuse", takeover({ "ha-mode": "all" })],
    [
      "a source from another broker",
      takeover({ "federation-upstream-set": "all" }, { applyTo: "exchanges", pattern: "^shop\\.orders$" }),
    ],
    [
      "a shorter queue, if it may be full",
      limits({ "max-length": 10 }, { pattern: "^shop\\.billing$" }),
      { retry: { attempts: 1, backoff: { kind: "immediate" } }, queueArguments: { maxLength: 100 } },
    ],
  ])("holds: %s", ([, policy, more = {}]) => {
    expect(compile(system({ ...more }), targetOf([policy]))).toMatchObject({ ok: true });
  });

  test.for<readonly [string, object, string | RegExp, (readonly string[] | undefined)?, object?]>([
    [
      "a time to live on the work queue",
      limits({ "message-ttl": 60_000 }, { pattern: "^shop\\.billing$" }),
      "with the operator's policy limits the proof of billing fails: a message leaves the work queue without a consumer: its time to live passes in shop.billing",
      ['1. published: ready in shop.billing, key "order.placed"'],
    ],
    [
      "a time to live on the dead queue",
      limits({ "message-ttl": 60_000 }, { pattern: "dead$" }),
      /a message is lost: shop\.billing\.dead deletes it after 60000 ms/,
    ],
    ["a shorter time to live on a tier", limits({ "message-ttl": 1_000 }, { pattern: "." }), /policy limits .* fails/],
    [
      "fewer deliveries",
      limits({ "delivery-limit": 1 }, { pattern: "^shop\\.billing$" }),
      /always crashes is delivered 2 times and is then dead; declared is 3/,
    ],
    [
      "a length",
      limits({ "max-length": 100 }, { pattern: "^shop\\.billing$" }),
      /shop\.billing has a limit on its length/,
    ],
    ["a policy that takes over without the limits", takeover({ "max-length-bytes": 9 }), /a limit on its length/],
    [
      "a policy for all, queues and exchanges",
      takeover({ "queue-mode": "lazy" }, { pattern: ".*", applyTo: "all" }),
      /a message is lost: kept inside shop\.billing for ever: the exchange has no route for it/,
    ],
    [
      "a policy of the same priority",
      takeover(ownDefinition, { priority: 1_000 }),
      "with the policy takeover the proof of billing fails: shop.billing and takeover have the same priority, and the broker may take either for shop.billing",
    ],
    [
      "a key without rules",
      takeover({ ...ownDefinition, "some-key": 1 }),
      /a policy with some-key, which is not accounted/,
    ],
    ["a value of a wrong type", limits({ "message-ttl": "60000" }), /is refused or without effect \(wrong-type\)/],
    [
      "federation into the retries",
      takeover({ "federation-upstream": "b" }, { applyTo: "exchanges", pattern: "dead$" }),
      /messages of another broker come into shop\.dead by federation/,
    ],
    [
      "a consumer timeout shorter than the handler",
      takeover({ ...ownDefinition, "consumer-timeout": 60_000 }),
      /takes a message back after 60000 ms; the handler may run for 300000 ms/,
      undefined,
      { handlerTimeout: "5m" },
    ],
    [
      "no consumer timeout for a long handler",
      takeover(ownDefinition),
      /takes a message back after 1800000 ms; the handler may run for 3600000 ms/,
      undefined,
      { handlerTimeout: "1h" },
    ],
  ])("fails: %s", ([, policy, message, notes, more = {}]) => {
    const answer = compile(system({ ...more }), targetOf([policy]));
    expect(answer).toMatchObject({
      ok: false,
      diagnostics: [
        {
          code: "RD242",
          path: "target.policies[0]",
          message: typeof message === "string" ? message : expect.stringMatching(message),
          ...(notes === undefined ? {} : { notes }),
        },
      ],
    });
  });

  test("each policy that breaks the proof by itself has its own diagnostic", () => {
    const policies = [
      takeover(ownDefinition),
      limits({ "message-ttl": 1 }, { name: "first" }),
      limits({ "message-ttl": 1 }, { name: "second", priority: 1 }),
    ];
    const answer = compile(system(), targetOf(policies));
    const paths = answer.ok ? [] : answer.diagnostics.map(({ path }) => path);
    expect(paths).toEqual(["target.policies[1]", "target.policies[2]"]);
  });

  test("policies that break it only together are named together", () => {
    // Each alone holds. They have the same priority, and the broker may take either.
    const values = { ...ownDefinition, "queue-leader-locator": "balanced" };
    const policies = [takeover(values), takeover(values, { name: "other" })];
    const answer = compile(system(), targetOf(policies));
    const message = expect.stringContaining("the policy takeover and the policy other") as string;
    expect(answer).toMatchObject({ ok: false, diagnostics: [{ path: "target.policies", message }] });
  });

  test("a consumer with another name has its own proof", () => {
    const consumer = { from: { orders: ["order.placed"] }, retry: retry("10s") };
    const two = checked(shopWith({ first: consumer, billing: consumer }));
    const answer = compile(two, targetOf([takeover(ownDefinition, { priority: 1_000 })]));
    expect(answer).toMatchObject({
      ok: false,
      diagnostics: [{ message: expect.stringContaining("the proof of billing") }],
    });
  });
});

test.for<readonly [string, unknown, string, string]>([
  ["no list", { name: "limits" }, "target.policies", "this is no list of policies"],
  ["no policy", ["limits"], "target.policies[0]", "this is no policy"],
  [
    "an unknown key",
    [limits({ a: 1 }, { applyto: "queues" })],
    "target.policies[0].applyto",
    '"applyto" is no option of a policy',
  ],
  ["no name", [limits({ a: 1 }, { name: "" })], "target.policies[0].name", "this is no name of a policy"],
  ["another kind", [limits({ a: 1 }, { kind: "admin" })], "target.policies[0].kind", "this is no kind of policy"],
  [
    "no regular expression",
    [limits({ a: 1 }, { pattern: "(" })],
    "target.policies[0].pattern",
    "this pattern cannot be read",
  ],
  [
    "another scope",
    [limits({ a: 1 }, { applyTo: "queue" })],
    "target.policies[0].applyTo",
    "policies do not apply to this",
  ],
  ["no priority", [limits({ a: 1 }, { priority: "1" })], "target.policies[0].priority", "this is no priority"],
  ["no definition", [limits({})], "target.policies[0].definition", "this is no definition of a policy"],
  ["a nested definition", [limits({ a: {} })], "target.policies[0].definition", "this is no definition of a policy"],
  [
    "one twice",
    [limits({ a: 1 }), limits({ a: 2 })],
    "target.policies[1].name",
    "two policies have this name and kind",
  ],
  [
    "one of ours",
    [takeover({ a: 1 }, { name: "shop.billing" })],
    "target.policies[0].name",
    "a compiled policy has this name, and a virtual host has one user policy of a name",
  ],
])("refuses %s", ([, policies, path, message]) => {
  const answer = compile(system(), targetOf(policies as readonly unknown[]));
  expect(answer).toMatchObject({ ok: false, diagnostics: [{ code: "RD221", path, message }] });
});

test("a target with them is checked once more, and nothing of the caller's is frozen", () => {
  const policy = limits({ "delivery-limit": 100 }, { pattern: "^shop\\.billing$" });
  const target = accepted(brokers.rabbitmq.checkTarget(targetOf([policy])));
  expect(accepted(brokers.rabbitmq.checkTarget(target))).toEqual(target);
  expect(Object.isFrozen(policy)).toBe(false);
  expect(target.policies).toEqual([{ priority: 0, ...policy }]);
});

describe("drift", () => {
  const policies = [
    takeover({ ...ownDefinition, "queue-leader-locator": "balanced" }),
    limits({ "target-group-size": 3 }, { pattern: "^shop\\." }),
  ];
  const { target, compiled } = accepted(compileAndProve<"rabbitmq">(system(), targetOf(policies)));
  const deployment = brokers.rabbitmq.differ.deploymentOf(compiled);
  const judged = (given: unknown, side: { readonly target: typeof target; readonly compiled: typeof compiled }) =>
    judgeDrift(accepted(driftFrom(given, side)));
  const plain = accepted(compileAndProve<"rabbitmq">(system(), targetOf([])));

  test("declared policies are no difference", () => {
    expect(judged(deployment, { target, compiled })).toEqual([]);
  });

  test("policies that are not declared are one for each resource", () => {
    const found = judged(deployment, plain);
    expect(found.map(({ name }) => name).toSorted()).toEqual(
      [...new Set(compiled.topology.queues.map(({ name }) => name))].toSorted(),
    );
    expect(found.find(({ name }) => name === "shop.billing")?.settings).toContainEqual({
      key: "policies",
      declared: "shop.billing",
      deployed: "operator's limits, takeover",
    });
  });

  test("declared policies that are not there are differences", () => {
    const found = judged(brokers.rabbitmq.differ.deploymentOf(plain.compiled), { target, compiled });
    expect(found.map(({ name }) => name)).toContain("shop.billing");
  });

  test("one more of a higher priority is judged by itself", () => {
    const [virtualHost] = deployment.virtualHosts;
    if (virtualHost === undefined) throw new Error("no virtual host");
    const more = { ...takeover({ "max-length": 1 }, { name: "late", priority: 3_000 }), kind: "user" } as never;
    const topology = { ...virtualHost.topology, policies: [...virtualHost.topology.policies, more] };
    const found = judged({ ...deployment, virtualHosts: [{ ...virtualHost, topology }] }, { target, compiled });
    expect(found).toMatchObject([{ effect: "loss", name: "shop.billing" }]);
    expect(found[0]?.settings).toContainEqual({
      key: "policies",
      declared: "operator's limits, takeover",
      deployed: "late, operator's limits",
    });
  });
});

describe("a change", () => {
  const side = (delay: string, policies: readonly object[]) => {
    const declared = system({ retry: retry(delay) });
    return deployedOf({ ...accepted(compileAndProve(declared, targetOf(policies))), system: declared });
  };
  const old = side("10s", []);

  test("holds with policies that hold on both sides", () => {
    const policies = [limits({ "delivery-limit": 100 }, { pattern: "^shop\\.billing$" })];
    expect(proveChange(side("10s", policies), side("20s", policies)).problems).toEqual([]);
  });

  test("is refused if a policy loses the messages that wait in an old queue", () => {
    expect(tier).toContain("10s");
    // The new declaration has no such queue, so it holds by itself.
    const policies = [
      limits({ "max-length": 1, overflow: "drop-head" }, { pattern: `^${tier.replaceAll(".", "\\.")}$` }),
    ];
    expect(proveChange(old, side("20s", policies)).problems).toMatchObject([{ code: "RD305" }]);
    expect(proveChange(old, side("20s", [])).problems).toEqual([]);
  });
});
