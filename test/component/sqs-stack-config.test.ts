import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { readStackConfig } from "../../src/brokers/sqs/make/index.ts";
import { resourcesOf, runProgram, stackProgram } from "../support/pulumi.ts";

const target = { broker: "sqs", region: "eu-west-1" };
const config = { "redeliver:target": target };

async function read(changed: object, known: readonly ["sqs"] | readonly ["rabbitmq", "sqs"] = ["sqs"]) {
  return runProgram(() => ({ read: readStackConfig<"rabbitmq" | "sqs">(new pulumi.Config(), known) }), {
    stack: "dev",
    config: changed as typeof config,
  });
}

test.each([["sqs"], ["rabbitmq", "sqs"]])("a stack needs only a region (known: %s, %s)", async (...known) => {
  const run = await read(config, known.filter(Boolean) as unknown as readonly ["rabbitmq", "sqs"]);
  expect(run.error).toBeUndefined();
  expect(run.outputs?.["read"]).toEqual({ broker: "sqs", target });
});

const badValues: readonly (readonly [string, object, string])[] = [
  ["an unknown region", { "redeliver:target": { ...target, region: "eu-west-9" } }, 'target.region = "eu-west-9"'],
  ["no region", { "redeliver:target": { broker: "sqs" } }, "target.region"],
  ["a version", { "redeliver:target": { ...target, version: "4.3" } }, "target.version"],
  [
    "a strategy of another broker",
    { "redeliver:target": { ...target, strategy: "staged" } },
    'target.strategy = "staged"',
  ],
  ["an unknown option", { "redeliver:target": { ...target, kmskey: "alias/shop" } }, "target.kmskey"],
  [
    "a key that SNS cannot use",
    { "redeliver:target": { ...target, kmsKey: "alias/aws/sqs" } },
    'target.kmsKey = "alias/aws/sqs"',
  ],
  [
    "a function that is no mapping",
    { "redeliver:target": { ...target, lambda: { billing: "billing" } } },
    'target.lambda.billing = "billing"',
  ],
  ["another broker", { "redeliver:target": { ...target, broker: "rabbitmq" } }, 'target.broker = "rabbitmq"'],
  ["an option of another broker", { ...config, "redeliver:vhost": "/" }, "vhost"],
  ["a password, which nothing here has a use for", { ...config, "redeliver:password": "correct-horse" }, "password"],
  ["no target", {}, "target"],
];

describe("a bad value gives one diagnostic", () => {
  test.each(badValues)("%s", async (_, changed, place) => {
    const run = await read(changed);
    const message = run.error?.message ?? "";
    expect(message.split("\n")[0]).toBe('The configuration of stack "dev" is refused');
    expect(message.match(/\[RD\d+\]/g)).toEqual(["[RD301]"]);
    expect(message).toContain(`\n  at   config:redeliver:${place}\n`);
    expect(message).toMatch(/\n {2}fix {2}\S/);
    expect(message).not.toContain("correct-horse");
  });
});

test("the production stack has its account, key, tags and function, and every queue is protected and retained", async () => {
  const file = readFileSync(new URL("../../stacks/Pulumi.prod-sqs.yaml", import.meta.url), "utf8");
  const { config: own } = parse(file) as { config: Record<string, unknown> };
  const run = await runProgram(stackProgram, { stack: "prod-sqs", config: own });
  expect(run.error).toBeUndefined();
  // A provider passes lists to the engine as JSON.
  expect(JSON.parse(String(resourcesOf(run, "aws")[0]?.inputs["allowedAccountIds"]))).toEqual(["123456789012"]);
  const queues = resourcesOf(run, "Queue");
  expect(queues).toHaveLength(6);
  for (const { inputs, protect, retainOnDelete } of queues) {
    expect({ protect, retainOnDelete }).toEqual({ protect: true, retainOnDelete: true });
    expect(inputs).toMatchObject({
      kmsMasterKeyId: "alias/shop-queues",
      tags: { team: "payments", "cost-centre": "4711", "redeliver:system": "shop" },
    });
  }
  expect(resourcesOf(run, "EventSourceMapping").map(({ inputs }) => inputs["functionName"])).toEqual(["shop-billing"]);
  expect(run.log.join("\n")).toContain("warning[RD623]");
});

test("the example stack deploys both consumers in the stack's region, with the stack's provider", async () => {
  const file = readFileSync(new URL("../../stacks/Pulumi.dev-sqs.yaml", import.meta.url), "utf8");
  const { config: own } = parse(file) as { config: Record<string, unknown> };
  const run = await runProgram(stackProgram, { stack: "dev-sqs", config: own });
  expect(run.error).toBeUndefined();
  expect(run.outputs).toMatchObject({ deployedTo: "sqs@eu-west-1" });
  expect(Object.keys(run.outputs?.["workQueues"] as object)).toEqual(["billing", "shipping"]);
  const provider = resourcesOf(run, "aws")[0];
  const made = run.resources.filter(({ type }) => type.startsWith("aws:"));
  expect(made.length).toBeGreaterThan(20);
  expect(new Set(made.map((each) => each.provider))).toEqual(new Set([`${provider?.urn}::aws-id`]));
  expect(new Set(made.map((each) => each.inputs["region"]))).toEqual(new Set(["eu-west-1"]));
});
