import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import { SqsRetryTopology, type SqsRetryTopologyArgs } from "../../src/brokers/sqs/make/index.ts";
import type { System } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { type ProgramRun, resourcesOf, runProgram, stackProgram } from "../support/pulumi.ts";
import { queueArn } from "../support/sqs/assigned-by-aws.ts";

const region = "eu-west-1";
const target = { broker: "sqs", region } as const;
const timed = { handlerTimeout: "10s", retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } } };
const systemOf = (order: "none" | "per-key", consumer = "billing"): System =>
  checked({
    ...oneConsumer(),
    consumers: { [consumer]: { from: { orders: "all" }, ...timed, order, deadLetter: { alarmAbove: 0 } } },
  });

async function register(system: System, more: Partial<SqsRetryTopologyArgs>, name = "shop"): Promise<ProgramRun> {
  return runProgram(() => {
    const { workQueues, deadQueues, topics } = new SqsRetryTopology(name, { system, target, ...more });
    return { workQueues, deadQueues, topics };
  });
}

describe.each([["none"], ["per-key"]] as const)("automatic names, order %s", (order) => {
  const suffix = order === "none" ? "" : ".fifo";

  test("Pulumi alone chooses the names, and every reference uses the chosen name", async () => {
    const run = await register(systemOf(order), { naming: "automatic" });
    expect(run.error).toBeUndefined();
    const made = run.resources.filter(({ type }) => type.startsWith("aws:"));
    expect(made.length).toBeGreaterThan(9);
    for (const { inputs, name } of made) {
      expect(inputs, name).not.toHaveProperty("name");
      // Pulumi adds a random suffix, and `.fifo` after it. SQS allows no other dot in a name.
      expect(name).toMatch(/^shop-[A-Za-z0-9_/.-]+$/);
    }
    for (const { name } of [...resourcesOf(run, "Queue"), ...resourcesOf(run, "Topic")])
      expect(name).not.toContain(".");
    const work = resourcesOf(run, "Queue").find(({ inputs }) => inputs["redrivePolicy"] !== undefined);
    const dead = `shop-shop-billing-dead-1a2b3c4${suffix}`;
    expect(JSON.parse(String(work?.inputs["redrivePolicy"]))).toEqual({
      deadLetterTargetArn: queueArn(region, dead),
      maxReceiveCount: 3,
    });
    expect(resourcesOf(run, "MetricAlarm")[0]?.inputs["dimensions"]).toEqual({ QueueName: dead });
    expect(run.outputs).toMatchObject({
      workQueues: { billing: { name: `shop-shop-billing-1a2b3c4${suffix}` } },
      deadQueues: { billing: { name: dead, arn: queueArn(region, dead) } },
    });
  });

  test("with Pulumi's addition a name has at most 80 characters", async () => {
    // `shop-shop-` and `-undelivered` are 22 characters. Pulumi adds 8 or 13.
    const longest = 80 - 22 - 8 - suffix.length;
    expect((await register(systemOf(order, "c".repeat(longest)), { naming: "automatic" })).error).toBeUndefined();
    const refused = await register(systemOf(order, "c".repeat(longest + 1)), { naming: "automatic" });
    expect(pulumi.RunError.isInstance(refused.error)).toBe(true);
    expect(refused.error?.message).toContain("error[RD204]");
    expect(refused.error?.message).toContain("would have 81 characters; 80 are allowed");
    expect(refused.resources.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
  });
});

test("the component refuses its own name if SQS does not accept it", async () => {
  const refused = await register(systemOf("none"), { naming: "automatic" }, "größe");
  expect(refused.error?.message).toContain('the component is named "größe"');
  expect((await register(systemOf("none"), {}, "größe")).error).toBeUndefined();
});

test("the configuration of a stack can choose automatic names", async () => {
  const config = { "redeliver:target": target, "redeliver:naming": "automatic" };
  const run = await runProgram(stackProgram, { config });
  expect(run.error).toBeUndefined();
  expect(resourcesOf(run, "Queue").filter(({ inputs }) => "name" in inputs)).toEqual([]);
  const odd = await runProgram(stackProgram, { config: { ...config, "redeliver:naming": "random" } });
  expect(odd.error?.message).toContain('config:redeliver:naming = "random"');
});

describe("a provider for another region", () => {
  const program = (own: string | undefined) => async () => {
    const { Provider } = await import("@pulumi/aws/provider.js");
    const provider = own === undefined ? {} : { provider: new Provider("aws", { region: own as "eu-west-1" }) };
    void new SqsRetryTopology("shop", { system: systemOf("none"), target }, provider);
  };

  test.each([
    ["a provider of its own", "us-east-1", {}, true],
    ["the default provider", undefined, { "aws:region": "us-east-1" }, true],
    ["the same region", "eu-west-1", { "aws:region": "us-east-1" }, false],
    ["the default provider in the same region", undefined, { "aws:region": "eu-west-1" }, false],
    ["a region from the environment, which the component cannot see", undefined, {}, false],
  ])("%s", async (_, own, config, isWarned) => {
    const run = await runProgram(program(own), { config });
    expect(run.error).toBeUndefined();
    const warning = "the provider is for us-east-1; Redeliver makes everything in eu-west-1";
    expect(run.log.join("\n").includes(warning)).toBe(isWarned);
    expect(new Set(resourcesOf(run, "Queue").map(({ inputs }) => inputs["region"]))).toEqual(new Set([region]));
  });
});
