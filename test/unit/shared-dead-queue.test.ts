import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem, type SystemInput, type TargetInput } from "../../src/index.ts";
import { declaredQueue } from "../../src/dead-letters/dead-queue.ts";
import { compileAndProve } from "../../src/compile/compile.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked } from "../support/examples.ts";

const consumer = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } },
  handlerTimeout: "10s",
};
const others: object = { billing: consumer, mail: consumer };
const shop = (more: object = {}, consumers = others): SystemInput =>
  ({ name: "shop", sources: { orders: { kind: "topic" } }, consumers, ...more }) as SystemInput;
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, consumer]));

const sqs: TargetInput = { broker: "sqs", region: "eu-west-1" };
const rabbitmq = (version: string, strategy: string): TargetInput =>
  ({ broker: "rabbitmq", version, strategy }) as TargetInput;
const shared = <Target extends TargetInput>(target: Target): Target => ({ ...target, deadQueue: "shared" });

const problemsOf = (system: SystemInput, target: TargetInput): readonly string[] => {
  const compiled = compile(checked(system), shared(target));
  return compiled.ok
    ? []
    : compiled.diagnostics.flatMap(({ code, path, severity }) => (severity === "error" ? [`${code} ${path}`] : []));
};

const queuesOf = ({ topology }: CompiledSystem): readonly string[] => topology.queues.map(({ name }) => name);

test.each<readonly [string, TargetInput, Readonly<Record<string, number>>]>([
  // A work queue and a way into the dead queue for each consumer.
  ["native", rabbitmq("4.3", "native"), { queues: 101, exchanges: 2, policies: 101, bindings: 200 }],
  ["staged", rabbitmq("4.3", "staged"), { queues: 104, exchanges: 109, policies: 204, bindings: 314 }],
  ["waits", rabbitmq("3.10", "waits"), { queues: 103, exchanges: 5, policies: 103, bindings: 402 }],
  ["redrive", sqs, { queues: 201, subscriptions: 100 }],
])("100 consumers of %s have one dead queue", (_, target, counts) => {
  const [own, one] = [target, shared(target)].map((each) => accepted(compile(checked(shop({}, many(100))), each)));
  const numbers = Object.entries(one?.topology ?? {}).flatMap(([kind, all]) =>
    Array.isArray(all) ? [[kind, all.length] as const] : [],
  );
  expect(Object.fromEntries(numbers)).toMatchObject(counts);
  expect((own?.topology.queues.length ?? 0) - (one?.topology.queues.length ?? 0)).toBe(99);
});

test.each<readonly [string, TargetInput, object, string]>([
  ["rabbitmq", rabbitmq("4.3", "auto"), {}, "shop.dead"],
  ["rabbitmq", rabbitmq("4.3", "auto"), { names: { shared: "retries" } }, "retries.dead"],
  ["rabbitmq", rabbitmq("4.3", "auto"), { names: { dead: "{system}.lost" } }, "shop.lost"],
  ["sqs", sqs, {}, "shop-dead"],
  ["sqs", sqs, { names: { dead: "lost-of-{system}" } }, "lost-of-shop"],
])("on %s the names of a declaration count (%#)", (_, target, more, name) => {
  const compiled = accepted(compile(checked(shop(more)), shared(target)));
  expect(compiled.contracts.map(({ deadQueue }) => deadQueue)).toEqual([name, name]);
  expect(queuesOf(compiled).filter((each) => each === name)).toHaveLength(1);
});

test.each<readonly [string, SystemInput, TargetInput, readonly string[]]>([
  ["a template", shop({ names: { dead: "{queue}.x" } }), rabbitmq("4.3", "auto"), ["RD204 names.dead"]],
  ["a template", shop({ names: { dead: "x-{consumer}" } }), sqs, ["RD204 names.dead"]],
  [
    "the shared name for one",
    shop({}, { ...others, billing: { ...consumer, deadLetter: { queue: "shop.dead" } } }),
    rabbitmq("4.3", "auto"),
    ["RD205 consumers.billing.deadLetter.queue"],
  ],
  ["a work queue", shop({}, { ...others, dead: consumer }), rabbitmq("4.3", "auto"), ["RD205 consumers.dead"]],
  ["a work queue", shop({}, { ...others, dead: consumer }), sqs, ["RD205 consumers.dead"]],
  [
    "FIFO",
    shop(
      {},
      { ...others, mail: { ...consumer, retry: { attempts: 3, backoff: { kind: "immediate" } }, order: "per-key" } },
    ),
    sqs,
    ["RD221 target.deadQueue"],
  ],
])("%s is refused (%#)", (_, system, target, problems) => {
  expect(problemsOf(system, target)).toEqual(problems);
});

const inOrder = { ...consumer, retry: { attempts: 3, backoff: { kind: "immediate" } }, order: "per-key" };

test.each<readonly [string, TargetInput, Readonly<Record<string, object>>]>([
  ...["native", "staged", "waits"].map(
    (strategy) =>
      [strategy, rabbitmq("4.3", strategy), { ...others, billing: consumer }] as const satisfies readonly unknown[],
  ),
  ["redrive", sqs, { ...others, billing: consumer }],
  ["a FIFO queue", sqs, { ...others, billing: inOrder }],
])("a consumer that names its dead queue does not share it: %s", (_, target, consumers) => {
  const settings = target.broker === "rabbitmq" ? { queueSettings: "policy" } : {};
  // Whether it comes first or last.
  for (const order of [Object.entries(consumers), Object.entries(consumers).toReversed()]) {
    const named = order.map(([name, own]) =>
      name === "billing" ? [name, { ...own, deadLetter: { queue: "letters", ...settings } }] : [name, own],
    );
    const system = checked(shop({}, Object.fromEntries(named)));
    const proved = accepted(compileAndProve(system, shared(target)));
    const { plan, compiled, verdicts } = proved;
    const one = target.broker === "sqs" ? "shop-dead" : "shop.dead";
    const workQueueOf = (name: string): string =>
      compiled.contracts.find((each) => each.consumer === name)?.workQueue ?? expect.unreachable();
    // A command for its letters looks at all letters of its queue.
    const isShared = (name: string): boolean => declaredQueue(proved, name, false).isShared;
    expect([isShared("billing"), isShared("mail")]).toEqual([false, true]);
    // So does one for letters that died before the consumer had its present queue, but for those of other consumers.
    const { isShared: isStillShared, others: leftOut } = declaredQueue(proved, "mail", false, one, "old");
    expect(() => declaredQueue(proved, "mail", false, one)).toThrow(`name the work queue of mail with --failed-in`);
    expect([isStillShared, leftOut?.has(workQueueOf("billing")), leftOut?.has(workQueueOf("mail"))]).toEqual([
      true,
      true,
      false,
    ]);
    const suffix = plan.consumers.some((each) => each.order === "per-key") ? ".fifo" : "";
    const dead = Object.fromEntries(compiled.contracts.map((each) => [each.consumer, each.deadQueue]));
    expect(dead).toEqual({
      ...Object.fromEntries(Object.keys(others).map((each) => [each, one])),
      billing: `letters${suffix}`,
    });
    expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
    expect(queuesOf(compiled).filter((each) => each === one)).toHaveLength(1);
  }
});

test.each(["rabbitmq@4.3", "sqs@eu-west-1", "servicebus@standard"])("%s knows two words", (text) => {
  const [broker, place] = text.split("@");
  const target = { broker, version: place, region: place, sku: place, deadQueue: "one" };
  const compiled = compile(checked(shop()), target as unknown as TargetInput);
  expect(compiled.ok ? [] : compiled.diagnostics.map(({ path }) => path)).toContain("target.deadQueue");
});

test("on SQS each threshold has one alarm on the shared dead queue", () => {
  const alarmed = (alarmAbove: number): object => ({ ...consumer, deadLetter: { alarmAbove } });
  const declared = shop({}, { billing: alarmed(0), mail: alarmed(0), stock: alarmed(9) });
  const target = { ...sqs, emptiedDeadQueues: ["mail"] } as TargetInput<"sqs">;
  const { topology } = accepted(compile(checked(declared), shared(target)));
  expect(topology.alarms.filter(({ queue }) => queue === "shop-dead").map(({ name }) => name)).toEqual([
    "shop-dead-depth-above-0",
    "shop-dead-received-above-0",
    "shop-dead-depth-above-9",
  ]);
});

test("on SQS a copy that does not name its own work queue is refuted, and other consumers are proved", () => {
  const target = shared({ broker: "sqs", region: "eu-west-1", strategy: "auto" } as const);
  const compiled = accepted(compile(checked(shop()), target));
  const refuted = (attributes: Readonly<Record<string, string>>): readonly string[] => {
    const contracts = compiled.contracts.map((each) => {
      const named = JSON.stringify(each.outcomes).replace(
        /"attributes":{[^}]*}/,
        `"attributes":${JSON.stringify(attributes)}`,
      );
      return each.consumer === "mail" ? { ...each, outcomes: JSON.parse(named) as typeof each.outcomes } : each;
    });
    const verdicts = verifyAll(brokers.sqs.subjectsOf({ ...compiled, contracts }, target));
    return verdicts.flatMap(({ consumer: name, violations }) => violations.map(() => name));
  };
  expect(refuted({ "dlq-original-queue": "shop-mail" })).toEqual([]);
  expect(refuted({ "dlq-original-queue": "shop-billing" })).toEqual(["mail"]);
  expect(refuted({})).toEqual(["mail"]);
});
