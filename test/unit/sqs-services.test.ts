import { expect, test } from "vitest";

import { brokers, compile, compileAndProve, type SystemInput } from "../../src/index.ts";
import { driftFrom, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { registerSqs } from "../support/sqs/register.ts";
import { accepted, checked } from "../support/examples.ts";

// A rule of EventBridge and a bucket of S3 send straight to the queue, if its policy lets them.

const rule = "arn:aws:events:eu-west-1:123456789012:rule/refunds";
const bucket = "arn:aws:s3:::shop-scans";
const target = { broker: "sqs", region: "eu-west-1" } as const;
const common = { handlerTimeout: "10s", retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } } } as const;

function systemWith(consumer: object, refunds = rule): SystemInput {
  return {
    name: "shop",
    sources: {
      orders: { kind: "topic" },
      refunds: { kind: "topic", name: refunds, owner: "other" },
      scans: { kind: "fanout", name: bucket, owner: "other" },
    },
    consumers: { archive: { ...common, ...consumer } },
  } as SystemInput;
}

const both = checked(systemWith({ from: { refunds: "all", scans: "all", orders: ["order.placed"] } }));
const proved = accepted(compileAndProve<"sqs">(both, target));

test("nothing but the policy of the work queue knows the services", () => {
  const { topics, subscriptions, queues } = proved.compiled.topology;
  expect(topics.map(({ name }) => name)).toEqual(["shop-orders"]);
  expect(subscriptions.map(({ topic }) => topic)).toEqual(["shop-orders"]);
  expect(queues.map(({ role, sendersServices }) => [role, sendersServices])).toEqual([
    ["dead", undefined],
    ["undelivered", undefined],
    ["work", [rule, bucket]],
  ]);
});

test("a queue without topics has no queue for messages that a topic could not deliver", () => {
  const alone = accepted(compile(checked(systemWith({ from: { refunds: "all" } })), target));
  expect(alone.topology.queues.map(({ role }) => role)).toEqual(["dead", "work"]);
  expect(alone.contracts[0]?.sources).toEqual([expect.objectContaining({ queue: "shop-archive" })]);
});

test("every way of deploying lets both services in, each for its own resource", async () => {
  const { resources } = await registerSqs(both, target);
  const policy = (text: string): void => {
    expect(text).toContain('"Principal":{"Service":"events.amazonaws.com"}');
    expect(text).toContain('"Principal":{"Service":"s3.amazonaws.com"}');
    expect(text).toContain(JSON.stringify({ ArnEquals: { "aws:SourceArn": [rule] } }));
    expect(text).toContain(JSON.stringify({ ArnEquals: { "aws:SourceArn": [bucket] } }));
  };
  policy(JSON.stringify(brokers.sqs.exportFormats["aws-json"]?.(proved.compiled, null)));
  policy(JSON.stringify(brokers.sqs.exportFormats["terraform"]?.(proved.compiled, null)).replaceAll('\\"', '"'));
  const own = resources.filter(({ type, name }) => type.endsWith(":QueuePolicy") && name.endsWith("shop-archive"));
  policy(own.map(({ inputs }) => String(inputs["policy"])).join());
});

test.for([
  ["a key for a rule", { from: { refunds: ["a"] } }, "RD216", ["consumers", "archive", "from", "refunds"]],
  ["a rule in order", { from: { refunds: "all" }, order: "per-key" }, "RD222", ["consumers", "archive", "order"]],
  ["a bucket in order", { from: { scans: "all" }, order: "per-key" }, "RD222", ["consumers", "archive", "order"]],
] as const)("%s is refused", ([, consumer, code, path]) => {
  const refused = compile(checked(systemWith(consumer)), target);
  expect(
    !refused.ok &&
      refused.diagnostics.filter(({ severity }) => severity === "error").map((each) => [each.code, each.path]),
  ).toEqual([[code, path.join(".")]]);
});

test.for([
  ["arn:aws:events:us-east-1:123456789012:rule/refunds", /a rule in us-east-1 does not reach a queue in eu-west-1/],
  ["arn:aws:events:eu-west-1:123456789012:event-bus/refunds", /no rule has this ARN/],
  ["arn:aws:events:eu-west-1:123456789012:rule/", /no rule has this ARN/],
  ["arn:aws:s3:::Bad_Bucket", /no bucket has this ARN/],
  ["arn:aws:s3:eu-west-1::invoices", /no bucket has this ARN/],
] as const)("%s can never send, and is refused", ([arn, message]) => {
  const refused = compile(checked(systemWith({ from: { refunds: "all" } }, arn)), target);
  const errors = refused.ok ? [] : refused.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors).toMatchObject([{ code: "RD222", path: "sources.refunds.name", value: arn }]);
  expect(errors[0]?.message).toMatch(message);
});

test("the key of the queues has to let in the principals that send, and no others", () => {
  const withKey = { ...target, kmsKey: "alias/shop" };
  const helpFor = (from: object): string | undefined => {
    const compiled = compile(checked(systemWith({ from })), withKey);
    return compiled.ok ? compiled.warnings.find(({ code }) => code === "RD623")?.help : undefined;
  };
  expect(helpFor({ refunds: "all" })).toMatch(/^in the key's policy allow events\.amazonaws\.com kms:/);
  expect(helpFor({ scans: "all", orders: "all" })).toMatch(/allow s3\.amazonaws\.com and sns\.amazonaws\.com kms:/);
});

test.for([
  ["a rule that is shut out", (sid: string) => sid !== "Rules", "loss"],
  ["a bucket that is shut out", (sid: string) => sid !== "Buckets", "loss"],
  ["nothing else", () => true, null],
] as const)("a comparison with the account judges %s", ([, stays, effect]) => {
  const declared = brokers.sqs.differ.deploymentOf(proved.compiled);
  const changed = {
    ...declared,
    regions: declared.regions.map((region) => ({
      ...region,
      queues: region.queues.map((queue) => {
        const statements = (queue.statements as readonly { readonly Sid: string }[]).filter(({ Sid }) => stays(Sid));
        const Policy = JSON.stringify({ Version: "2012-10-17", Statement: statements });
        return { ...queue, statements, attributes: { ...queue.attributes, Policy } };
      }),
    })),
  };
  const judged = judgeDrift(accepted(driftFrom(changed, proved)));
  expect(judged.map((each) => each.effect)).toEqual(effect === null ? [] : [effect]);
});
