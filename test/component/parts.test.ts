import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { expect, test } from "vitest";

import { type RetryTopologyArgs, RetryTopology } from "../../src/brokers/rabbitmq/make/index.ts";
import { isOwnOf } from "../../src/brokers/rabbitmq/make/part.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked } from "../support/examples.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { forAllAsync } from "../support/for-all.ts";
import { type ProgramRun, runProgram } from "../support/pulumi.ts";

type Part = RetryTopologyArgs["part"];

async function deploying(
  args: Omit<RetryTopologyArgs, "part">,
  part: Part,
): Promise<{ readonly run: ProgramRun; readonly shared: readonly string[] }> {
  const run = await runProgram(() => {
    const { shared } = new RetryTopology("shop", { ...args, ...(part !== undefined && { part }) });
    return { shared };
  });
  return { run, shared: (run.outputs?.["shared"] ?? []) as readonly string[] };
}

/** The resources on the broker, with the options that decide about their end, and the own resources before each. */
function madeIn({ resources }: ProgramRun, among = resources): readonly string[] {
  const own = new Set(among.map(({ urn }) => urn));
  return resources
    .filter(({ custom, urn }) => custom && own.has(urn))
    .map(({ type, name, inputs, protect, retainOnDelete, deletedWith, dependencies }) => {
      const before = dependencies.filter((each) => own.has(each)).toSorted();
      return JSON.stringify([type, name, inputs, protect, retainOnDelete, deletedWith, before]);
    });
}

test("the parts of several stacks are the whole system, and no resource is in two of them", async () => {
  let divided = 0;
  let alone = 0;
  await forAllAsync(60, [anySystem, anyTarget, fc.func(fc.nat(2))], async (input, target, stackOf) => {
    const system = checkSystem(input);
    fc.pre(system.ok && compile(system.value, target).ok);
    if (!system.ok) return;
    const args = { system: system.value, target };
    const whole = await deploying(args, undefined);
    expect(whole.run.error).toBeUndefined();
    const { run, shared } = await deploying(args, "shared");
    expect(shared.length > 0).toBe(madeIn(run).length > 0);
    const made = [run];
    const stacks = Map.groupBy(Object.keys(system.value.consumers), (consumer) => stackOf(consumer));
    for (const consumers of stacks.values()) made.push((await deploying(args, { consumers, shared })).run);
    expect(made.flatMap((each) => each.error ?? [])).toEqual([]);
    for (const each of made) expect(madeIn(each).toSorted()).toEqual(madeIn(whole.run, each.resources).toSorted());
    const urnsIn = ({ resources }: ProgramRun) => resources.flatMap(({ urn, custom }) => (custom ? [urn] : []));
    expect(made.flatMap(urnsIn).toSorted()).toEqual(urnsIn(whole.run).toSorted());
    if (madeIn(run).length > 0 && stacks.size > 1) divided += 1;
    if (stacks.size === 1) alone += 1;
  });
  expect(divided).toBeGreaterThan(5);
  expect(alone).toBeGreaterThan(5);
});

const consumer = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
} as const;
const system = checked({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: { billing: consumer, mail: { ...consumer, retry: { ...consumer.retry, attempts: 4 } } },
});
const target = { broker: "rabbitmq", version: "4.3", strategy: "staged" } as const;

test.each<[string, string | RegExp, readonly string[], (shared: readonly string[]) => unknown]>([
  ["before the shared part", /does not have queue shop\..+, and \d+ more as this/, ["billing"], () => undefined],
  [
    "with an older shared part",
    "queue shop.attempt.4.1s",
    ["mail"],
    (all) => all.filter((each) => !/\.4\./.test(each)),
  ],
  ["that is not declared", "no consumer named audit is declared; declared are billing, mail", ["audit"], (all) => all],
  ["without a name", "its part names no consumer; declared are billing, mail", [], (all) => all],
])("a part of consumers %s is refused before any resource", async (_, message, consumers, given) => {
  const { shared } = await deploying({ system, target }, "shared");
  const part = { consumers, shared: given(shared) } as Part;
  const { run } = await deploying({ system, target }, part);
  expect(run.error).toBeInstanceOf(pulumi.RunError);
  expect(run.error?.message).toMatch(message);
  expect(run.resources.filter(({ type }) => type !== "pulumi:pulumi:Stack")).toEqual([]);
});

test.each(["sharde", null, {}, { consumers: "billing" }, { consumers: [1] }, []])("%j is no part", async (part) => {
  const { run } = await deploying({ system, target }, part as unknown as Part);
  expect(run.error?.message).toContain('its part is neither "shared" nor');
  expect(run.resources.filter(({ custom }) => custom)).toEqual([]);
});

test("a stack does not wait for the other consumers' changes, and sees a clash with their names", async () => {
  const { shared } = await deploying({ system, target }, "shared");
  const part = { consumers: ["billing"], shared };
  const more = checked({
    ...system,
    consumers: { ...system.consumers, audit: { ...consumer, crash: { deliveries: 5 } } },
  });
  expect((await deploying({ system: more, target }, part)).run.error).toBeUndefined();
  const clashing = { ...system, consumers: { ...system.consumers, audit: { ...consumer, queue: "shop.billing" } } };
  const { run } = await deploying({ system: clashing as unknown as typeof system, target }, part);
  expect(run.error?.message).toContain("shop.billing");
});

test("the rules of a preview judge each consumer in its own stack, and miss nothing of another one", async () => {
  const divided = { system, target: { ...target, deadQueue: "shared" }, owner: "the shop" } as const;
  const { run, shared } = await deploying(divided, "shared");
  const messages = async (each: ProgramRun) =>
    (await foundInProcess(each))
      .map(({ message }) => message)
      .filter((message) => /billing|mail|dead-letter/.test(message));
  const alone = await deploying(divided, { consumers: ["billing"], shared });
  const whole = await deploying(divided, undefined);
  expect(await messages(run)).toEqual([]);
  const [own, all] = [await messages(alone.run), await messages(whole.run)];
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((message) => !all.includes(message))).toEqual([]);
  expect(own.filter((message) => message.includes("mail"))).toEqual([]);
});

test("a stack leaves behind only its own parts that no stack declares", () => {
  const four = accepted(compile(system, target));
  const partsOf = (part: Part) => {
    const { topology } = accepted(compile(checked({ ...system, consumers: { billing: consumer } }), target));
    const isOwn = isOwnOf(part, { ...four, topology });
    const tier = { kind: "queue", name: "shop.attempt.4.1s", consumer: null };
    const gone = { kind: "queue", name: "shop.mail", consumer: "mail" };
    const moved = { kind: "queue", name: "shop.billing", consumer: "billing" };
    return [tier, gone, moved].map((each) => isOwn({ ...each, holds: "waiting", longestWaitMs: null, fixed: {} }));
  };
  expect(partsOf(undefined)).toEqual([true, true, true]);
  expect(partsOf("shared")).toEqual([true, false, false]);
  expect(partsOf({ consumers: ["mail"], shared: [] })).toEqual([false, true, false]);
});
