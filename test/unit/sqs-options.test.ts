import { describe, expect, test } from "vitest";

import type { CompiledSystem, Diagnostic, TargetInput } from "../../src/index.ts";
import { brokers, checkSystem, compile } from "../../src/index.ts";
import { prove } from "../../src/compile/compile.ts";
import { accepted, oneConsumer } from "../support/examples.ts";

const eu = { broker: "sqs", region: "eu-west-1" } as const;
const account = "123456789012";
const keyId = "1234abcd-12ab-34cd-56ef-1234567890ab";
const keyArn = `arn:aws:kms:eu-west-1:${account}:key/${keyId}`;
const functionArn = `arn:aws:lambda:eu-west-1:${account}:function:billing`;
const lambda = (options: object): object => ({
  lambda: { billing: { function: "billing", timeout: "30s", ...options } },
});

/** A target with options of any form, as a file may hold them. */
function targetOf(options: object): TargetInput<"sqs"> {
  return { ...eu, ...options } as TargetInput<"sqs">;
}

/**
 * The diagnostics about a target alone, or else about the system compiled for it. On every queue, a returned message
 * costs an attempt.
 */
function saidOf(options: object, consumer: object = {}): readonly Diagnostic[] {
  const target = brokers.sqs.checkTarget(targetOf(options));
  if (!target.ok) return target.diagnostics;
  const system = accepted(checkSystem(oneConsumer({ handlerTimeout: "10s", ...consumer })));
  const compiled = compile(system, target.value);
  return (compiled.ok ? compiled.warnings : compiled.diagnostics).filter(({ code }) => code !== "RD207");
}

function compiled(options: object, consumer: object = {}): CompiledSystem<"sqs"> {
  const system = checkSystem(oneConsumer({ handlerTimeout: "10s", ...consumer }));
  return accepted(system.ok ? compile<"sqs">(system.value, targetOf(options)) : system);
}

describe("an option that AWS would refuse in the middle of a deployment gives one diagnostic", () => {
  const retry = (attempts: number): object => ({
    retry: { attempts, backoff: { kind: "exponential", first: "1s", factor: 2 } },
  });
  test.each<[string, object, string, string, object?]>([
    ["an unknown option", { vpc: "mine" }, "RD221", "target.vpc"],
    ["an account that YAML made a number of", { account: 123_456_789_012 }, "RD221", "target.account"],
    ["an account of eleven digits", { account: "12345678901" }, "RD221", "target.account"],
    ["a key that is none", { kmsKey: "shop" }, "RD221", "target.kmsKey"],
    ["a key that is a number", { kmsKey: 5 }, "RD221", "target.kmsKey"],
    ["an ARN of something else", { kmsKey: functionArn }, "RD221", "target.kmsKey"],
    ["an alias that services cannot use", { kmsKey: "alias/aws/sqs" }, "RD617", "target.kmsKey"],
    ["the same by its ARN", { kmsKey: `arn:aws:kms:eu-west-1:${account}:alias/aws/sqs` }, "RD617", "target.kmsKey"],
    ["a key in another region", { kmsKey: keyArn.replace("eu-west-1", "us-east-1") }, "RD618", "target.kmsKey"],
    ["a key of another account", { account: "210987654321", kmsKey: keyArn }, "RD618", "target.kmsKey"],
    ["a tag that AWS sets", { tags: { "aws:team": "a" } }, "RD221", 'target.tags["aws:team"]'],
    ["a tag that Redeliver sets", { tags: { "redeliver:system": "a" } }, "RD221", 'target.tags["redeliver:system"]'],
    ["a tag without a key", { tags: { "": "a" } }, "RD221", 'target.tags[""]'],
    ["a tag of 257 characters", { tags: { team: "a".repeat(257) } }, "RD221", "target.tags.team"],
    ["a tag that is a number", { tags: { cost: 5 } }, "RD221", "target.tags.cost"],
    [
      "47 tags",
      { tags: Object.fromEntries(Array.from({ length: 47 }, (_, index) => [`t${index}`, ""])) },
      "RD221",
      "target.tags",
    ],
    ["no list of dead queues", { emptiedDeadQueues: "billing" }, "RD221", "target.emptiedDeadQueues"],
    [
      "a dead queue of an undeclared consumer",
      { emptiedDeadQueues: ["biling"] },
      "RD221",
      "target.emptiedDeadQueues[0]",
    ],
    ["no mapping of functions", { lambda: ["billing"] }, "RD221", "target.lambda"],
    [
      "a function for an undeclared consumer",
      { lambda: { mail: { function: "mail", timeout: "1s" } } },
      "RD221",
      "target.lambda.mail",
    ],
    ["a function that is a text", { lambda: { billing: "billing" } }, "RD221", "target.lambda.billing"],
    ["no function", lambda({ function: undefined }), "RD221", "target.lambda.billing.function"],
    ["a function's name with a space", lambda({ function: "my billing" }), "RD221", "target.lambda.billing.function"],
    [
      "a function in another region",
      lambda({ function: functionArn.replace("eu-", "us-") }),
      "RD618",
      "target.lambda.billing.function",
    ],
    [
      "a function of another account",
      { account: "210987654321", ...lambda({ function: functionArn }) },
      "RD618",
      "target.lambda.billing.function",
    ],
    ["an option that no function has", lambda({ batchsize: 5 }), "RD221", "target.lambda.billing.batchsize"],
    ["no timeout", lambda({ timeout: undefined }), "RD221", "target.lambda.billing.timeout"],
    ["a timeout that is a number", lambda({ timeout: 30 }), "RD221", "target.lambda.billing.timeout"],
    ["a timeout of 15 minutes and a second", lambda({ timeout: "901s" }), "RD221", "target.lambda.billing.timeout"],
    ["a timeout of half a second", lambda({ timeout: "1500ms" }), "RD221", "target.lambda.billing.timeout"],
    ["a timeout of nothing", lambda({ timeout: "0s" }), "RD221", "target.lambda.billing.timeout"],
    ["a batch of none", lambda({ batchSize: 0 }), "RD221", "target.lambda.billing.batchSize"],
    ["a batch of 10 001", lambda({ batchSize: 10_001 }), "RD221", "target.lambda.billing.batchSize"],
    [
      "a window of 5 minutes and a second",
      lambda({ batchWindow: "301s" }),
      "RD221",
      "target.lambda.billing.batchWindow",
    ],
    ["one at a time", lambda({ maximumConcurrency: 1 }), "RD221", "target.lambda.billing.maximumConcurrency"],
    ["1 001 at a time", lambda({ maximumConcurrency: 1_001 }), "RD221", "target.lambda.billing.maximumConcurrency"],
    ["half of one at a time", lambda({ maximumConcurrency: 2.5 }), "RD221", "target.lambda.billing.maximumConcurrency"],
    ["a function that ends before the handler", lambda({ timeout: "9s" }), "RD619", "target.lambda.billing.timeout"],
    ["11 at a time without a window", lambda({ batchSize: 11 }), "RD620", "target.lambda.billing.batchSize"],
    [
      "a window on FIFO",
      lambda({ batchWindow: "1s" }),
      "RD620",
      "target.lambda.billing.batchWindow",
      { order: "per-key" },
    ],
    ["a batch on FIFO", lambda({ batchSize: 2 }), "RD620", "target.lambda.billing.batchSize", { order: "per-key" }],
    ["a single receive", lambda({}), "RD621", "consumers.billing.retry.attempts", retry(1)],
    ["four receives", lambda({}), "RD622", "consumers.billing.retry.attempts", retry(4)],
    ["a key with an invisible policy", { kmsKey: keyArn, account }, "RD623", "target.kmsKey"],
  ])("%s", (_name, options, code, path, consumer) => {
    const said = saidOf(options, consumer);
    expect(said.map((each) => [each.code, each.path])).toEqual([[code, path]]);
    expect(said[0]?.help).toBeTruthy();
  });

  test("values at the limits pass", () => {
    const most = { timeout: "900s", batchSize: 10_000, batchWindow: "5m", maximumConcurrency: 1_000 };
    expect(saidOf(lambda(most))).toEqual([]);
    expect(saidOf(lambda({ timeout: "10s", batchSize: 1, batchWindow: "0s", maximumConcurrency: 2 }))).toEqual([]);
    expect(saidOf({ account, ...lambda({ function: `${functionArn}:live` }) })).toEqual([]);
    expect(saidOf({ tags: { "cost centre": "a".repeat(256), größe: "" }, emptiedDeadQueues: ["billing"] })).toEqual([]);
    for (const kmsKey of [keyId, "alias/shop", `mrk-${"a".repeat(32)}`, keyArn]) {
      expect(saidOf({ kmsKey }).map(({ code }) => code)).toEqual(["RD623"]);
    }
  });

  test("every problem of a target is reported at once, with its region and strategy", () => {
    const codes = saidOf({
      region: "eu-west-9",
      strategy: "staged",
      kmsKey: "alias/aws/sqs",
      ...lambda({ batchSize: 0 }),
    });
    expect(codes.map(({ code }) => code)).toEqual(["RD201", "RD201", "RD617", "RD221"]);
    expect(saidOf({ region: undefined }).map(({ message }) => message)).toEqual([
      "the target names no known region of AWS",
    ]);
  });
});

test("a checked target is frozen, can be checked again, and shares nothing with its input", () => {
  const tags: Record<string, string> = { team: "payments" };
  const target = brokers.sqs.checkTarget(targetOf({ tags, ...lambda({}) }));
  if (!target.ok) throw new Error("refused");
  tags["team"] = "mail";
  expect(target.value).toMatchObject({ tags: { team: "payments" }, strategy: "auto" });
  expect(Object.isFrozen(target.value.tags)).toBe(true);
  expect(brokers.sqs.checkTarget(target.value)).toEqual(target);
});

describe("a Lambda function", () => {
  test("the queue hides messages for six times the function's timeout, plus the window", () => {
    const { topology, contracts } = compiled(lambda({ timeout: "1m", batchSize: 20, batchWindow: "7s" }));
    const work = topology.queues.find(({ role }) => role === "work");
    expect(work?.visibilityTimeoutSeconds).toBe(367);
    expect(contracts[0]).toMatchObject({
      strategy: "visibility",
      lambda: { function: "billing", functionTimeoutMs: 60_000, batchSize: 20, answer: "batchItemFailures" },
    });
    expect(topology.mappings).toEqual([
      {
        queue: "shop-billing",
        consumer: "billing",
        functionName: "billing",
        batchSize: 20,
        batchWindowSeconds: 7,
        maximumConcurrency: null,
        functionResponseTypes: ["ReportBatchItemFailures"],
      },
    ]);
  });

  test("with Lambda no constant delay rests on the queue's own timeout, because Lambda's start is unknown", () => {
    const constant = { retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } };
    expect(compiled({}, constant).contracts[0]?.strategy).toBe("redrive");
    const { contracts, choices } = compiled(lambda({}), constant);
    expect(contracts[0]?.strategy).toBe("visibility");
    // 10 s and 30 s, against six times 30 s.
    expect(choices[0]?.passedOver[0]?.reason).toContain(
      "it would be 40s here, where a function of 30s needs 3m at least",
    );
    const [refusal] = saidOf({ strategy: "redrive", ...lambda({}) }, constant);
    expect([refusal?.code, refusal?.help]).toEqual(["RD202", "use strategy visibility, which keeps it on this target"]);
    const atOnce = { retry: { attempts: 5, backoff: { kind: "immediate" } } };
    expect(compiled(lambda({}), atOnce).contracts[0]?.strategy).toBe("redrive");
  });

  test("in order a function gets one message at a time and retries at once, and a delay is refused", () => {
    const atOnce = { order: "per-key", retry: { attempts: 5, backoff: { kind: "immediate" } } };
    expect(compiled(lambda({}), atOnce).topology.mappings[0]?.batchSize).toBe(1);
    const constant = { order: "per-key", retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } };
    expect(saidOf(lambda({}), constant).map(({ code }) => code)).toEqual(["RD203"]);
  });

  test("the proof lets the function begin and end at any time within the visibility timeout", () => {
    const system = compiled(lambda({ timeout: "15m" }));
    const target = accepted(brokers.sqs.checkTarget(targetOf(lambda({ timeout: "15m" }))));
    expect(accepted(prove(system, target)).flatMap(({ violations }) => violations)).toEqual([]);
    // Redeliver refuses a delay of nearly 12 h if the function may use up most of an hour and a half before it.
    const delay = (first: string): object => ({
      retry: { attempts: 5, backoff: { kind: "exponential", first, factor: 1 } },
    });
    expect(saidOf(lambda({ timeout: "15m" }), delay("37800s"))).toEqual([]);
    expect(saidOf(lambda({ timeout: "15m" }), delay("37801s")).map(({ code }) => code)).toEqual(["RD203"]);
  });

  test("is shown in the picture, and only consumers that name one have it", () => {
    const graph = brokers.sqs.graphOf(compiled(lambda({ function: functionArn })));
    expect(graph.nodes.find(({ kind }) => kind === "work")?.detail).toBe(
      `hidden for 3m after a receive by Lambda ${functionArn}`,
    );
    expect(compiled({}).contracts[0]).not.toHaveProperty("lambda");
  });
});

test("a dead queue that a program empties has an alarm on receives, too", () => {
  const watched = { deadLetter: { alarmAbove: 3 } };
  const names = (options: object, consumer: object): string[] =>
    compiled(options, consumer).topology.alarms.map(({ name }) => name);
  const depth = ["shop-billing-dead-depth", "shop-billing-undelivered-depth"];
  expect(names({}, watched)).toEqual(depth);
  expect(names({ emptiedDeadQueues: ["billing"] }, watched)).toEqual([...depth, "shop-billing-dead-received"]);
  expect(names({ emptiedDeadQueues: ["billing"] }, {})).toEqual([]);
});

test("every queue has the target's key, dead queues too; the default is SSE-SQS", () => {
  const kinds = (options: object): string[] =>
    compiled(options).topology.queues.map(({ encryption }) => encryption.kind);
  expect(kinds({ kmsKey: "alias/shop" })).toEqual(["kms", "kms", "kms"]);
  expect(kinds({})).toEqual(["sqs", "sqs", "sqs"]);
});
