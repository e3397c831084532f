import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { writeYaml } from "../../src/adopt/write-yaml.ts";
import { parseText } from "../../src/declare/parse.ts";
import { checkSystem, type CompiledSystem } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { adopting, adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { adoptedShapes, listingOfShape } from "../support/sqs/adopted-shapes.ts";
import { arnOf, queue, redriveTo, topicArnOf } from "../support/sqs-listing.ts";

const adopt = (listing: readonly object[]): Adopted =>
  adoptText(JSON.stringify(listing), "sqs@eu-west-1", "shop", "sqs");

interface Drafted {
  readonly retry: { readonly attempts: number; readonly backoff: { readonly delay?: string } };
  readonly handlerTimeout?: string;
}

describe.for(Object.entries(adoptedShapes()))("%s", ([, shape]) => {
  const adopted = adopt(listingOfShape(shape));

  test("is declared with its own names, counts and times", () => {
    const consumers = Object.values(adopted.draft.system.consumers) as readonly Drafted[];
    const found = adopted.proved.compiled.contracts.map(({ workQueue, deadQueue }, index) => {
      const { retry, handlerTimeout = null } = consumers[index] as Drafted;
      return [workQueue, [retry.attempts, retry.backoff.delay ?? null, handlerTimeout, deadQueue]];
    });
    expect(Object.fromEntries(found)).toEqual(shape.consumers);
    expect(adopted.draft.options).toMatchObject(shape.options ?? {});
    const { queues } = adopted.proved.compiled.topology as CompiledSystem<"sqs">["topology"];
    for (const [name, { VisibilityTimeout: seconds }] of Object.entries(shape.queues)) {
      if (name in shape.consumers)
        expect(queues.find((each) => each.name === name)?.visibilityTimeoutSeconds).toBe(Number(seconds));
    }
  });

  test("has the facts that the declaration cannot say, and reads back from YAML", () => {
    for (const fact of shape.unsaid) expect(factsOf(adopted)).toContainEqual(expect.stringMatching(fact));
    expect(adopted.refused).toEqual([]);
    const parsed = parseText(writeYaml(adopted.draft, adopted.unsaid), "yaml");
    expect(parsed).toMatchObject({ ok: true, value: adopted.draft.system });
    expect(checkSystem(parsed.ok ? parsed.value : null)).toMatchObject({ ok: true });
  });

  test("is reported first if it loses messages today", () => {
    const isLossy = Object.values(shape.queues).every(({ dead }) => dead === undefined);
    const text = renderAdoption(adopted, false, null);
    expect(text.includes("\n\nThese lose messages today:\n  celery: no redrive policy")).toBe(isLossy);
  });

  test("is imported with each queue, subscription and mapping that is there", () => {
    const ids = adopted.imports.entries.map(({ type, id = "" }) => `${type.split(":").at(-1)} ${id.split("/").at(-1)}`);
    const declared = new Set(
      (adopted.proved.compiled.topology as CompiledSystem<"sqs">["topology"]).queues.map(({ name }) => name),
    );
    const wanted = [
      ...Object.entries(shape.queues).flatMap(([name, { Policy }]) =>
        declared.has(name) ? [`Queue ${name}`, ...(Policy === undefined ? [] : [`QueuePolicy ${name}`])] : [],
      ),
      ...(shape.subscriptions ?? []).map(({ topic, queue: name }) => `TopicSubscription ${topicArnOf(topic)}:${name}`),
      ...(shape.lambda === undefined ? [] : ["EventSourceMapping 6f1c"]),
    ];
    expect(ids.slice(1).toSorted()).toEqual(wanted.toSorted());
    expect(adopted.imports.entries[0]).toMatchObject({ type: "redeliver:sqs:RetryTopology", component: true });
  });
});

test("the circle of two queues in the examples keeps one of them as the dead queue", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../examples/hand-made-queues.json"), "utf8");
  const adopted = adoptText(text, "sqs@eu-west-1", "shop", "sqs");
  expect(adopted.proved.compiled.contracts).toMatchObject([{ workQueue: "billing", deadQueue: "billing-retry" }]);
  expect(adopted.draft.options).toEqual({
    lambda: { billing: { function: "billing", timeout: "60s", batchSize: 10, batchWindow: "0s" } },
  });
  expect(factsOf(adopted)).toContainEqual(expect.stringMatching(/billing-retry has a redrive policy to billing/));
  expect(adopted.judged?.filter(({ effect }) => effect === "loss").map(({ name }) => name)).toContain("billing-retry");
});

const toOrders = {
  Policy: {
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: arnOf("orders"),
        Condition: { ArnEquals: { "aws:SourceArn": "arn:aws:events:eu-west-1:123456789012:rule/r1" } },
      },
    ],
  },
};
const subscription = { Attributes: { SubscriptionArn: `${topicArnOf("events")}:1`, TopicArn: topicArnOf("events") } };
Object.assign(subscription.Attributes, { Protocol: "sqs", Endpoint: arnOf("orders"), RawMessageDelivery: "true" });
const calls = (name: string) => ({
  EventSourceMappings: [
    { UUID: "6f1c", EventSourceArn: arnOf(name), FunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:f" },
  ],
});

test.for([
  ["a redrive policy", redriveTo("orders-dlq"), []],
  ["a sender", toOrders, []],
  ["a function", {}, [calls("orders")]],
  ["a subscription", {}, [subscription]],
] as const)(
  "a dead-letter queue with %s stays a work queue, and its source gets a dead queue",
  ([, attributes, more]) => {
    const listing = [queue("intake", redriveTo("orders")), queue("orders", attributes), queue("orders-dlq"), ...more];
    for (const queues of [[], ["intake", "orders"], ["intake"]]) {
      const adopted = adopting(
        { kind: "adopt", text: JSON.stringify(listing), queues },
        "sqs@eu-west-1",
        "shop",
        "sqs",
      );
      if (!adopted.ok) throw new Error(JSON.stringify(adopted.diagnostics));
      const { proved, judged, imports } = adopted.value;
      const ends = proved.compiled.contracts.map(({ workQueue, deadQueue }) => [workQueue, deadQueue]);
      const dead = queues.length === 1 ? "intake-dead" : "intake-dlq";
      expect(Object.fromEntries(ends)).toEqual({
        intake: dead,
        ...(queues.length === 1 ? {} : { orders: "orders-dlq" }),
      });
      expect(imports.present.some(({ id }) => id.endsWith("/orders"))).toBe(queues.length !== 1);
      expect(factsOf(adopted.value)).toContainEqual(
        expect.stringMatching(/^intake: its dead letters go to orders, whose/),
      );
      const changed = judged?.filter(({ settings }) => settings.some(({ key }) => key === "RedrivePolicy"));
      expect(changed?.filter(({ kind }) => kind === "queue").map(({ name }) => name)).toContain("intake");
      expect(changed?.map(({ effect }) => effect)).not.toContain("harmless");
    }
  },
);

test("a work queue adopted without the queue that dead-letters to it names that one", () => {
  const listing = [queue("intake", redriveTo("orders")), queue("orders", redriveTo("orders-dlq")), queue("orders-dlq")];
  const example = { kind: "adopt", text: JSON.stringify(listing), queues: ["orders"] } as const;
  const adopted = adopting(example, "sqs@eu-west-1", "shop", "sqs");
  if (!adopted.ok) throw new Error("it is adopted");
  expect(factsOf(adopted.value)).toContainEqual(expect.stringMatching(/^orders: intake dead-letters to it/));
});

test.for([
  ["a redrive policy", redriveTo("dlq2"), []],
  ["a function", {}, [calls("dlq")]],
] as const)("a queue with the name of a dead-letter queue and %s stays one", ([, attributes, more]) => {
  const listing = [queue("orders", redriveTo("dlq")), queue("dlq", attributes), queue("dlq2"), ...more];
  const { contracts } = adopt(listing).proved.compiled;
  expect(contracts).toMatchObject([{ workQueue: "orders", deadQueue: "dlq" }]);
});

test("a delay of new messages that goes away changes the behaviour", () => {
  const { judged } = adopt([
    queue("reminders", { DelaySeconds: 300, ...redriveTo("reminders-dead", 5) }),
    queue("reminders-dead"),
  ]);
  const reason = "each new message becomes visible after another delay";
  expect(judged).toContainEqual(expect.objectContaining({ name: "reminders", effect: "otherwise", reason }));
});

test("another visibility timeout shows both times", () => {
  const FunctionArn = "arn:aws:lambda:eu-west-1:123456789012:function:thumbnails";
  const mapping = { EventSourceArn: arnOf("thumbnails"), FunctionArn, BatchSize: 10, State: "Enabled" };
  const { judged } = adopt([
    queue("thumbnails", { VisibilityTimeout: 60, ...redriveTo("thumbnails-dead", 2) }),
    queue("thumbnails-dead"),
    { Subscriptions: [] },
    { EventSourceMappings: [{ ...mapping, MaximumBatchingWindowInSeconds: 5 }] },
    { FunctionArn, Timeout: 30 },
  ]);
  const differing = judged?.find(({ settings }) => settings.some(({ key }) => key === "VisibilityTimeout"));
  expect(differing?.reason).toMatch(/declared is .* after 0 to 185000 ms; deployed is .* after 0 to 60000 ms$/);
});

test("every change of behaviour is judged, and a filter keeps its keys", () => {
  const shape = adoptedShapes()["a topic with filters for each queue"];
  if (shape === undefined) throw new Error("no shape");
  const { draft, judged } = adopt(listingOfShape(shape));
  expect(draft.system["sources"]).toEqual({
    events: { kind: "topic", name: topicArnOf("events"), owner: "other" },
  });
  expect(draft.system.consumers).toMatchObject({
    billing: { from: { events: ["order.placed", "refund.#"] } },
    shipping: { from: { events: "all" } },
  });
  const filters = judged?.flatMap(({ settings }) => settings.filter(({ key }) => key === "FilterPolicy"));
  expect(filters).toEqual([]);
  const differing = judged?.flatMap(({ kind, settings }) => settings.map(({ key }) => `${kind} ${key}`));
  expect([...new Set(differing)].toSorted()).toEqual([
    "queue MessageRetentionPeriod",
    "queue Policy",
    "queue RedriveAllowPolicy",
    "subscription RedrivePolicy",
  ]);
});

test.for([
  [
    "a sender that a compiled policy locks out",
    { Principal: { AWS: "arn:aws:iam::999999999999:role/app" } },
    /999999999999:role\/app \(SendMessage\)/,
  ],
  ["anyone", { Principal: "*" }, /lets in anyone \(SendMessage\)/],
  ["the account itself", { Principal: { AWS: "arn:aws:iam::123456789012:root" } }, null],
  [
    "consumers of another account",
    { Principal: { AWS: "222222222222" }, Action: ["sqs:ReceiveMessage", "SQS:DeleteMessage"] },
    /lets in 222222222222 \(ReceiveMessage, DeleteMessage\)/,
  ],
  [
    "a topic, in the old form",
    { Principal: "*", Condition: { ArnEquals: { "aws:SourceArn": topicArnOf("events") } } },
    null,
  ],
  [
    "all topics of all accounts",
    { Principal: { Service: "sns.amazonaws.com" }, Condition: { ArnLike: { "aws:SourceArn": "arn:aws:sns:*:*:*" } } },
    /lets in sns\.amazonaws\.com for arn:aws:sns:\*:\*:\* \(SendMessage\)/,
  ],
  [
    "a topic without a subscription",
    {
      Principal: { Service: "sns.amazonaws.com" },
      Condition: { ArnEquals: { "aws:SourceArn": topicArnOf("partner") } },
    },
    /lets in sns\.amazonaws\.com for arn:aws:sns:[^ ]*:partner \(SendMessage\)/,
  ],
] as const)("a policy names %s", ([, statement, fact]) => {
  const Policy = {
    Statement: [{ Effect: "Allow", Action: "sqs:SendMessage", Resource: arnOf("orders"), ...statement }],
  };
  const adopted = adopt([
    queue("orders", { ...redriveTo("orders-dlq"), Policy }),
    queue("orders-dlq", { Policy: JSON.stringify(Policy).replaceAll(arnOf("orders"), arnOf("orders-dlq")) }),
    subscription,
  ]);
  const found = factsOf(adopted).filter((each) => /policy( of its dead-letter queue)? lets/.test(each));
  expect(found).toEqual(fact === null ? [] : [expect.stringMatching(fact), expect.stringMatching(fact)]);
  const locked = adopted.judged?.filter(({ reason }) => reason.includes("lets in")).map(({ name }) => name);
  const isJudged = fact !== null && statement.Principal !== "*";
  // If the policy of orders shuts out its own topic, that is worse, and another reason.
  expect(locked).toEqual(isJudged ? expect.arrayContaining(["orders-dlq"]) : []);
});

const rule = "arn:aws:events:eu-west-1:123456789012:rule/bus/refunds";
const bucket = "arn:aws:s3:::shop-scans";
const from = (...sources: readonly string[]) => ({ ArnEquals: { "aws:SourceArn": sources } });
const ofAccount = { StringEquals: { "aws:SourceAccount": "123456789012" } };

test.for([
  ["a rule", "events", from(rule), { refunds: rule }, []],
  ["a bucket", "s3", from(bucket), { "shop-scans": bucket }, []],
  ["a bucket for anyone, in the old form", "*", from(bucket), { "shop-scans": bucket }, []],
  [
    "a bucket as in AWS's example",
    "s3",
    { ArnLike: { "aws:SourceArn": "arn:aws:s3:*:*:shop-scans" }, ...ofAccount },
    { "shop-scans": bucket },
    [/account of arn:aws:s3:::shop-scans, too/],
  ],
  ["a rule and its account", "events", { ...from(rule), ...ofAccount }, { refunds: rule }, []],
  ["a rule of a pattern", "events", from(rule, `${rule}-*`), { refunds: rule }, [/for arn:[^ ]*refunds-\* \(/]],
  ["a bucket, for rules", "events", from(bucket), {}, [/events.amazonaws.com for arn:aws:s3:::shop-scans \(/]],
  [
    "a rule of another account",
    "events",
    { ...from(rule.replace("1234", "9999")), ...ofAccount },
    {},
    [/999956789012/],
  ],
  [
    "a rule of an organisation",
    "events",
    { ...from(rule), StringLike: { "aws:PrincipalOrgID": "o-1" } },
    {},
    [/events.amazonaws.com for arn/],
  ],
  ["no rule in particular", "events", {}, {}, [/lets in events.amazonaws.com \(/]],
] as const)("a policy lets in %s: a source, or listed", ([, service, Condition, sources, facts]) => {
  const Principal = service === "*" ? "*" : { Service: `${service}.amazonaws.com` };
  const allow = (name: string) => ({
    Policy: {
      Statement: [{ Effect: "Allow", Principal, Action: "sqs:SendMessage", Resource: arnOf(name), Condition }],
    },
  });
  const adopted = adopt([queue("orders", { ...redriveTo("orders-dlq"), ...allow("orders") }), queue("orders-dlq")]);
  const declared = Object.entries(sources).map(([key, name]) => [key, { kind: "fanout", name, owner: "other" }]);
  expect(adopted.draft.system["sources"] ?? {}).toEqual(Object.fromEntries(declared));
  expect(factsOf(adopted).filter((each) => /policy|owner/.test(each) && !each.includes("redrive"))).toEqual(
    facts.map((fact) => expect.stringMatching(fact) as unknown),
  );
  const { queues } = adopted.proved.compiled.topology as CompiledSystem<"sqs">["topology"];
  const services = queues.find(({ role }) => role === "work")?.sendersServices ?? [];
  expect(services).toEqual(Object.values(sources));
  // The dead queue of a rule lets its rule in, and a compiled one does not.
  const lost = adopt([queue("orders", redriveTo("orders-dlq")), queue("orders-dlq", allow("orders-dlq"))]);
  expect(factsOf(lost).filter((each) => each.includes("the policy of its dead-letter queue"))).toHaveLength(1);
});

test("a FIFO queue keeps its shared dead-letter queue as it was, and gets one of its own with the reason", () => {
  const listing = [queue("a.fifo", redriveTo("d.fifo")), queue("b.fifo", redriveTo("d.fifo")), queue("d.fifo")];
  const adopted = adopting({ kind: "adopt", text: JSON.stringify(listing) }, "sqs@eu-west-1", "shop", "sqs");
  const { options } = adopted.ok ? adopted.value.draft : {};
  const warned = adopted.ok ? adopted.warnings.filter(({ code }) => code === "RD333") : [];
  expect([options, warned.map(({ notes }) => notes[1])]).toEqual([{}, ["consumers in order cannot share one"]]);
});

test("a FIFO queue keeps its own dead-letter queue beside one that other queues share", () => {
  const standard = ["eu", "us"].map((name) => queue(name, redriveTo("dlq")));
  const listing = [queue("a.fifo", redriveTo("d.fifo")), queue("d.fifo"), ...standard, queue("dlq")];
  const adopted = adopting({ kind: "adopt", text: JSON.stringify(listing) }, "sqs@eu-west-1", "shop", "sqs");
  if (!adopted.ok) throw new Error("it is adopted");
  const { contracts } = adopted.value.proved.compiled;
  const dead = contracts.map(({ workQueue, deadQueue }) => [workQueue, deadQueue]).toSorted();
  expect(dead).toEqual([
    ["a.fifo", "d.fifo"],
    ["eu", "dlq"],
    ["us", "dlq"],
  ]);
  expect(adopted.warnings.filter(({ code }) => code === "RD333")).toEqual([]);
});

test("a queue adopted alone leaves its dead-letter queue open to the others", () => {
  const listing = [queue("eu", redriveTo("dlq")), queue("us", redriveTo("dlq")), queue("dlq")];
  const example = { kind: "adopt", text: JSON.stringify(listing), queues: ["eu"] } as const;
  const adopted = adopting(example, "sqs@eu-west-1", "shop", "sqs");
  if (!adopted.ok) throw new Error("it is adopted");
  const { queues } = adopted.value.proved.compiled.topology as CompiledSystem<"sqs">["topology"];
  expect(queues).toContainEqual(expect.objectContaining({ name: "dlq", redriveAllow: { permission: "allowAll" } }));
});

test("a dead-letter queue with the name of parked letters is the dead queue", () => {
  const { proved, draft } = adopt([queue("orders", redriveTo("orders-parked")), queue("orders-parked")]);
  expect(proved.compiled.contracts).toMatchObject([{ workQueue: "orders", deadQueue: "orders-parked" }]);
  expect(JSON.stringify(draft.system)).not.toContain('park":true');
});

test("queues of ServiceControl are no consumers", () => {
  const { draft } = adopt([queue("Sales"), queue("Particular-ServiceControl"), queue("Particular-Monitoring")]);
  expect(Object.keys(draft.system.consumers)).toEqual(["Sales"]);
});

test("no service sends to a compiled FIFO queue, so those that a policy lets in are listed", () => {
  const Policy = {
    Statement: [
      { Effect: "Allow", Principal: "*", Action: "sqs:*", Resource: arnOf("a.fifo"), Condition: from(rule, bucket) },
    ],
  };
  const adopted = adopt([queue("a.fifo", { ...redriveTo("d.fifo"), Policy }), queue("d.fifo")]);
  expect(adopted.refused).toEqual([]);
  expect(adopted.draft.system["sources"]).toBeUndefined();
  expect(factsOf(adopted)).toContainEqual(expect.stringContaining("its policy lets in anyone for"));
});

test("a queue whose name belongs to another one, and a queue that SQS would empty, are left out with the reason", () => {
  const twins = adopt([
    queue("a"),
    queue("a.fifo"),
    queue("slow", { ...redriveTo("d", 1_000), VisibilityTimeout: 43_200 }),
  ]);
  expect(Object.keys(twins.draft.system.consumers)).toEqual(["a"]);
  expect(twins.refused).toMatchObject([
    { place: "slow", fact: expect.stringMatching(/can take 500d/) as unknown },
    { place: "a", fact: expect.stringMatching(/name of another consumer.*the work queue a\.fifo/) as unknown },
  ]);
});

test.for([
  ["Shop-OrdersQueue6B0D2F0A-p3hGkQx7Zt1W", true],
  ["Shop-OrdersQueue6B0D2F0A-p3hGkQx7Zt1W.fifo", true],
  ["shop-orders-1QZ2X3C4V5B6", true],
  ["shop-orders-notifications", false],
  ["shop-ORDERS-PRIORITYHIGH", false],
  ["orders", false],
] as const)("the name %s is one of CloudFormation: %s", ([name, isMade]) => {
  const dead = name.endsWith(".fifo") ? "failed.fifo" : "failed";
  const facts = factsOf(adopt([queue(name, redriveTo(dead)), queue(dead)]));
  expect(facts.some((each) => each.startsWith(`${name}: by the name a stack of CloudFormation`))).toBe(isMade);
});
