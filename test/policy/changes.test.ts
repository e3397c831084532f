import { Rule as AzureRule } from "@pulumi/azure-native/servicebus/rule.js";
import { Subscription as AzureSubscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { TopicSubscription } from "@pulumi/aws/sns/topicSubscription.js";
import { Queue as SqsQueue } from "@pulumi/aws/sqs/queue.js";
import { Binding } from "@pulumi/rabbitmq/binding.js";
import { Exchange } from "@pulumi/rabbitmq/exchange.js";
import { Policy } from "@pulumi/rabbitmq/policy.js";
import { Queue } from "@pulumi/rabbitmq/queue.js";
import { VHost } from "@pulumi/rabbitmq/vhost.js";
import type { CustomResourceOptions, Resource } from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import { type PolicyOptions, type RuleOptions, rules } from "../../src/policy/index.ts";
import { type JudgedPreview, judgePreview } from "../../src/policy/preview.ts";
import { readPreview } from "../../src/policy/preview/read-preview.ts";
import shop from "../../stacks/shop.ts";
import { runExample } from "../support/example-program.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { digestOf, type DigestOptions } from "../support/preview.ts";
import { type ProgramRun, register, runProgram } from "../support/pulumi.ts";

const rule = "queue-deletion";

async function judged(
  before: ProgramRun,
  after: ProgramRun,
  options: PolicyOptions = { preset: "strict" },
  digest: DigestOptions = {},
): Promise<JudgedPreview["violations"]> {
  const read = readPreview(JSON.stringify(digestOf(before, after, digest)));
  if (!read.ok) throw new Error(read.diagnostics.map(({ message }) => message).join("\n"));
  return (await judgePreview(read.value, options, new Map())).violations;
}

const ofDeletions = (violations: JudgedPreview["violations"]): readonly string[] =>
  violations.filter((each) => each.rule === rule).map(({ message }) => message.split("\n")[0] ?? "");

describe.each(rules.filter(({ kind }) => kind === "change"))("$name", ({ name }) => {
  const program = async (which: string): Promise<ProgramRun> => runExample(`examples/policies/${name}/${which}.ts`);

  test("reports its bad example, and no other rule does", async () => {
    const violations = await judged(await program("before"), await program("fails"));
    expect(violations.map((each) => each.rule)).toEqual([name]);
    expect(violations[0]).toMatchObject({ level: "mandatory", message: expect.stringMatching(/\nfix: /) });
  });

  test("reports nothing in its good example, like every other rule", async () => {
    expect(await judged(await program("before"), await program("passes"))).toEqual([]);
  });

  test("is in no policy pack, because Pulumi shows a pack no changes", async () => {
    expect(await foundInProcess(await program("fails"), { preset: "strict" })).toEqual([]);
  });
});

describe("a replaced or deleted queue", () => {
  const settings = { durable: true, argumentsJson: '{"x-queue-type":"quorum"}' };
  const other = { durable: true, argumentsJson: '{"x-queue-type":"classic"}' };
  const temporary = { durable: true, autoDelete: true };
  type Made = readonly [settings: object, options?: CustomResourceOptions];
  const queue = async ([given, options]: Made): Promise<ProgramRun> =>
    runProgram(() => void new Queue("orders", { name: "orders", settings: given }, options));
  const nothing = async (): Promise<ProgramRun> => runProgram(() => undefined);
  const replaced = "it is replaced because of settings: RabbitMQ deletes every message in it";
  const deleted =
    "it is deleted, because the program no longer has a resource of this name: RabbitMQ deletes every message in it";
  const halfDone =
    "it is replaced because of settings, and stays: the broker refuses a second one of its name, so the update stops half-way";
  const retained = { retainOnDelete: true };

  test.each<readonly [string, Made, Made | null, readonly string[]]>([
    ["another argument", [settings], [other], [replaced]],
    [
      "another argument, and the protection gone in the same update",
      [settings, { protect: true }],
      [other],
      [replaced],
    ],
    ["another argument, and retained from now on", [settings], [other, retained], [replaced]],
    ["another argument, and retained up to now", [settings, retained], [other], [halfDone]],
    ["another argument, and retained as ever", [settings, retained], [other, retained], [halfDone]],
    ["gone", [settings], null, [deleted]],
    ["gone, and retained", [settings, retained], null, []],
    ["the same", [settings], [settings], []],
    ["a temporary one with another argument", [temporary], [other], []],
    ["a temporary one that is gone", [temporary], null, []],
  ])("%s", async (_, before, after, found) => {
    const [old, next] = [await queue(before), after === null ? await nothing() : await queue(after)];
    expect(ofDeletions(await judged(old, next))).toEqual(found);
    // Pulumi shows the steps of a replacement on demand. They are still one replacement.
    expect(ofDeletions(await judged(old, next, { preset: "strict" }, { showReplacementSteps: true }))).toEqual(found);
  });

  test("names, waivers and levels follow the policy pack's options", async () => {
    const [old, next] = [await queue([settings]), await queue([other])];
    const withRule = (given: RuleOptions): PolicyOptions => ({ rules: { [rule]: given } });
    const waiver = { resource: "orders", reason: "it is empty" };
    expect((await judged(old, next, {})).find((each) => each.rule === rule)?.level).toBe("advisory");
    expect((await judged(old, next, withRule({ enforcementLevel: "mandatory" }))).map(({ level }) => level)).toContain(
      "mandatory",
    );
    expect(ofDeletions(await judged(old, next, withRule({ enforcementLevel: "disabled" })))).toEqual([]);
    expect(ofDeletions(await judged(old, next, withRule({ exclude: ["ord*"] })))).toEqual([]);
    expect(ofDeletions(await judged(old, next, withRule({ waivers: [{ ...waiver, expires: "2999-12-31" }] })))).toEqual(
      [],
    );
    const expired = await judged(old, next, withRule({ waivers: [{ ...waiver, expires: "2020-01-31" }] }));
    expect(expired.find((each) => each.rule === rule)?.message).toContain("the waiver for it expired on 2020-01-31");
  });
});

describe("exchanges, subscriptions and containers of queues", () => {
  test("a replaced exchange loses its bindings; after a deletion its publishers get an error", async () => {
    const exchange = async (type: string | null): Promise<ProgramRun> =>
      runProgram(() => {
        if (type !== null) void new Exchange("orders", { name: "orders", settings: { type, durable: true } });
      });
    const [topic, direct, none] = [await exchange("topic"), await exchange("direct"), await exchange(null)];
    expect(ofDeletions(await judged(topic, direct))).toEqual([expect.stringContaining("its bindings go with it")]);
    expect(ofDeletions(await judged(topic, none))).toEqual([]);
  });

  test.each<readonly [string, (queue: Resource) => void, string | null]>([
    [
      "an exchange that it dead-letters to",
      () => void new Exchange("again", { name: "again", settings: { type: "fanout", durable: true } }),
      "orders stays on the broker, and messages that die in it then have no destination",
    ],
    [
      "an exchange of others",
      () => void new Exchange("other", { name: "other", settings: { type: "fanout", durable: true } }),
      null,
    ],
    [
      "its way in",
      () => void new Binding("in", { vhost: "/", source: "shop", destination: "orders", destinationType: "queue" }),
      "orders stays on the broker, and messages published to shop no longer reach it",
    ],
    [
      "its way in, where that stays with it",
      (deletedWith) =>
        void new Binding(
          "in",
          { vhost: "/", source: "shop", destination: "orders", destinationType: "queue" },
          { deletedWith },
        ),
      null,
    ],
    [
      "its way out",
      () => void new Binding("out", { vhost: "/", source: "again", destination: "work", destinationType: "queue" }),
      "orders stays on the broker, and messages that die in it no longer reach work",
    ],
    [
      "its policy",
      () =>
        void new Policy("tier", {
          name: "tier",
          vhost: "/",
          policy: { pattern: "^orders$", applyTo: "queues", priority: 0, definition: { "message-ttl": "1000" } },
        }),
      "orders stays on the broker without its settings, so its messages may wait for ever",
    ],
    [
      "its policy, if that has its dead-letter exchange",
      () =>
        void new Policy("tier", {
          name: "tier",
          vhost: "/",
          policy: {
            pattern: "^orders$",
            applyTo: "queues",
            priority: 0,
            definition: { "dead-letter-exchange": "again" },
          },
        }),
      "orders stays on the broker without its dead-letter exchange, so RabbitMQ deletes the messages that die in it",
    ],
  ])("a queue that is retained needs %s", async (_, make, loss) => {
    const argumentsJson = JSON.stringify({ "x-queue-type": "quorum", "x-dead-letter-exchange": "again" });
    const program = (): void => {
      const settings = { durable: true, argumentsJson };
      make(new Queue("orders", { name: "orders", vhost: "/", settings }, { retainOnDelete: true }));
    };
    const found = ofDeletions(await judged(await runProgram(program), await runProgram(() => undefined)));
    const told = "it is deleted, because the program no longer has a resource of this name";
    expect(found).toEqual(loss === null ? [] : [`${told}: ${loss}`]);
  });

  test("a queue that has its dead-letter exchange by a policy that stays needs that exchange", async () => {
    const settings = { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum" }) };
    const definition = { "dead-letter-exchange": "again" };
    const kept = (): void => {
      void new Queue("orders", { name: "orders", vhost: "/", settings }, { retainOnDelete: true });
      const policy = { pattern: "^orders$", applyTo: "queues", priority: 0, definition };
      void new Policy("orders", { name: "orders", vhost: "/", policy }, { retainOnDelete: true });
    };
    const whole = await runProgram(() => {
      kept();
      void new Exchange("again", { name: "again", vhost: "/", settings: { type: "fanout", durable: true } });
    });
    expect(ofDeletions(await judged(whole, await runProgram(kept)))).toEqual([
      expect.stringContaining("orders stays on the broker, and messages that die in it then have no destination"),
    ]);
  });

  test("a queue that stays at AWS needs its subscription, and a subscription that stays in its namespace needs its rules", async () => {
    const none = await runProgram(() => undefined);
    const atAws = await runProgram(() => {
      const queue = new SqsQueue("orders", { name: "orders" }, { retainOnDelete: true });
      void new TopicSubscription("in", { topic: "arn:aws:sns:eu-west-1:1:shop", protocol: "sqs", endpoint: queue.arn });
    });
    expect(ofDeletions(await judged(atAws, none))).toEqual([expect.stringContaining("orders stays at AWS")]);
    const place = { resourceGroupName: "group", namespaceName: "shop", topicName: "orders" };
    const atAzure = await runProgram(() => {
      const own = { ...place, subscriptionName: "billing" };
      void new AzureSubscription("billing", own, { retainOnDelete: true });
      void new AzureRule("placed", { ...own, ruleName: "placed" });
    });
    expect(ofDeletions(await judged(atAzure, none))).toEqual([
      expect.stringContaining("billing stays in the namespace"),
    ]);
  });

  test("a deleted virtual host deletes its queues", async () => {
    const [old, next] = [
      await runProgram(() => void new VHost("shop", { name: "shop" })),
      await runProgram(() => undefined),
    ];
    expect(ofDeletions(await judged(old, next))).toEqual([expect.stringContaining("deletes every queue in it")]);
  });

  test("the resources of a removed component of Redeliver stay at the broker", async () => {
    const { audit: _, ...others } = shop.consumers;
    const [old, next] = [await register(shop, "4.0"), await register({ ...shop, consumers: others }, "4.0")];
    expect(digestOf(old, next).changeSummary?.["delete"]).toBeGreaterThan(3);
    expect(ofDeletions(await judged(old, next))).toEqual([]);
  });
});
