import { describe, expect, test } from "vitest";

import { writeYaml } from "../../src/adopt/write-yaml.ts";
import { parseText } from "../../src/declare/parse.ts";
import { brokers, checkSystem, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";
import { adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { adoptedShapes, templateOfShape } from "../support/servicebus/adopted-shapes.ts";
import { type ArmEntity, armTemplate } from "../support/servicebus/arm-template.ts";

const adopt = (text: string): Adopted => adoptText(text, "servicebus@standard", "shop", "servicebus");

interface Drafted {
  readonly from?: object;
  readonly retry: { readonly attempts: number; readonly backoff: object };
}

describe.for(Object.entries(adoptedShapes))("%s", ([, shape]) => {
  const adopted = adopt(templateOfShape(shape));

  test("is declared with its own names and counts", () => {
    const consumers = Object.values(adopted.draft.system.consumers) as readonly Drafted[];
    const found = adopted.proved.compiled.contracts.map(({ workQueue }, index) => {
      const { from = null, retry } = consumers[index] as Drafted;
      expect(retry.backoff).toEqual({ kind: "immediate" });
      return [retry.attempts, from, workQueue];
    });
    expect(found).toEqual(Object.values(shape.consumers));
    expect(adopted.draft.options).toEqual(shape.options);
    expect(adopted.refused).toEqual([]);
  });

  test("has the facts that the declaration cannot say, and reads back from YAML", () => {
    for (const fact of shape.unsaid) expect(factsOf(adopted)).toContainEqual(expect.stringMatching(fact));
    const parsed = parseText(writeYaml(adopted.draft, adopted.unsaid), "yaml");
    expect(parsed).toMatchObject({ ok: true, value: adopted.draft.system });
    expect(checkSystem(parsed.ok ? parsed.value : null)).toMatchObject({ ok: true });
  });
});

test("an import has each entity that is there, but those that Azure cannot change", () => {
  const shape = (name: string) => adopt(templateOfShape(adoptedShapes[name] as never)).imports;
  const place = "/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.ServiceBus/namespaces/shop";
  expect(shape("a topic that forwards to a queue by labels").entries).toMatchObject([
    { type: "redeliver:servicebus:RetryTopology", component: true },
    { type: "azure-native:servicebus:Queue", logicalName: "shop-billing", id: `${place}/queues/billing` },
    { type: "azure-native:servicebus:Topic", logicalName: "shop-events", id: `${place}/topics/events` },
    {
      type: "azure-native:servicebus:Subscription",
      logicalName: "shop-events/billing",
      id: `${place}/topics/events/subscriptions/billing`,
    },
  ]);
  expect(shape("a topic with a subscription that consumers receive from").entries.at(-1)).toMatchObject({
    type: "azure-native:servicebus:DefaultRule",
    id: `${place}/topics/events/subscriptions/billing/rules/$Default`,
  });
  const mixed = adopt(
    armTemplate([
      ["queues", "payments", { enablePartitioning: true, lockDuration: "PT30S" }],
      ["queues", "invoices"],
    ]),
  );
  expect(mixed.imports.left).toEqual([
    { place: "queue payments", fact: "enablePartitioning is true, declared is false" },
  ]);
  expect(factsOf(mixed)).toContain(
    "payments, invoices: LockDuration is 30s and 1m, and lock of a target is one for all queues",
  );
});

test.for([
  [
    "a tier by another name",
    [
      "queues",
      "orders-later",
      {
        defaultMessageTimeToLive: "PT30S",
        deadLetteringOnMessageExpiration: true,
        forwardDeadLetteredMessagesTo: "orders",
      },
    ],
    /each of orders-later is used once is a guess/,
  ],
  [
    "a queue for all dead letters",
    ["queues", "orders", { forwardDeadLetteredMessagesTo: "letters" }],
    /^orders: its dead letters are forwarded to letters/,
  ],
  ["a queue of replies", ["queues", "orders-replies", {}], /^orders-replies: by its name it holds copies/],
] as const)("%s is told", ([, entity, fact]) => {
  const entities = [["queues", "letters"], ["queues", "orders"], entity] as readonly ArmEntity[];
  expect(factsOf(adopt(armTemplate(entities.toReversed())))).toContainEqual(expect.stringMatching(fact));
});

describe("a work queue with a time to live and forwarded dead letters is no tier", () => {
  const both = { defaultMessageTimeToLive: "P14D", deadLetteringOnMessageExpiration: true };
  test.for<readonly [string, readonly ArmEntity[]]>([
    ["to a queue for failures", [["queues", "work", { ...both, forwardDeadLetteredMessagesTo: "failed-messages" }]]],
    [
      "that drops expired messages",
      [
        [
          "queues",
          "work",
          { ...both, deadLetteringOnMessageExpiration: false, forwardDeadLetteredMessagesTo: "collected" },
        ],
      ],
    ],
    [
      "that a topic feeds",
      [
        ["queues", "work", { ...both, forwardDeadLetteredMessagesTo: "collected" }],
        ["topics", "events"],
        ["subscriptions", "events/mail", { forwardTo: "work" }],
        ["rules", "events/mail/$Default"],
      ],
    ],
  ])("%s", ([, entities]) => {
    const ends = ["failed-messages", "collected"]
      .filter((name) => JSON.stringify(entities).includes(name))
      .map((name): ArmEntity => ["queues", name]);
    const adopted = adopt(armTemplate([...ends, ...entities]));
    expect(Object.keys(adopted.draft.system.consumers)).toEqual(["work"]);
    expect(factsOf(adopted)).toContainEqual(expect.stringMatching(/^work: its dead letters are forwarded to /));
  });
});

test("the longest of several locks is the target's, so that no lock ends earlier than today", () => {
  const locks = ["PT30S", "PT2M", "PT1M"].map((lockDuration, index): ArmEntity => {
    return ["queues", `work-${index}`, { lockDuration }];
  });
  expect(adopt(armTemplate(locks)).draft.options).toEqual({ lock: "2m" });
});

test("two consumers that would have one name are not joined", () => {
  const entities: readonly ArmEntity[] = ["a", "b"].flatMap((topic): readonly ArmEntity[] => [
    ["topics", topic],
    ["subscriptions", `${topic}/all`],
    ["rules", `${topic}/all/$Default`],
  ]);
  const adopted = adopt(armTemplate(entities));
  expect(Object.keys(adopted.draft.system.consumers)).toEqual(["all"]);
  expect(factsOf(adopted)).toContainEqual(
    expect.stringMatching(/^b\/Subscriptions\/all: it is left out: all is the name of another consumer, too/),
  );
});

/** A consumer that receives from a subscription with these rules, beside one that a declaration has. */
function withRules(
  rules: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  subscription: Readonly<Record<string, unknown>> = {},
): readonly ArmEntity[] {
  return [
    ["queues", "orders"],
    ["topics", "events"],
    ["subscriptions", "events/mail", subscription],
    ...Object.entries(rules).map(([name, rule]): ArmEntity => ["rules", `events/mail/${name}`, rule]),
  ];
}

const sql = (sqlExpression: string) => ({ filterType: "SqlFilter", sqlFilter: { sqlExpression } });
const everything = sql("1=1");

describe("a filter that a declaration can say becomes routing keys", () => {
  test.for([
    ["sys.Label = 'order.shipped'", ["order.shipped"]],
    ["  SYS.label='order.shipped'  ", ["order.shipped"]],
    ["sys.Label IN ('a', 'b') OR sys.Label = 'a'", ["a", "b"]],
    ["sys.Label LIKE 'order.%'", ["order.*.#"]],
    ["sys.Label = 'order' OR sys.Label LIKE 'order.%'", ["order.#"]],
    ["sys.Label LIKE '%.eu' AND NOT sys.Label LIKE '%.%.%'", ["*.eu"]],
    ["sys.Label LIKE 'a\\_b.%' ESCAPE '\\'", ["a_b.*.#"]],
    ["1=1", ["#"]],
  ] as const)("%s", ([expression, keys]) => {
    const adopted = adopt(armTemplate(withRules({ own: sql(expression) })));
    expect(adopted.draft.system.consumers["mail"]).toMatchObject({ from: { events: keys } });
    expect(adopted.refused).toEqual([]);
    const forwarding = { forwardTo: "mail", deadLetteringOnMessageExpiration: true };
    const entities = withRules({ $Default: sql("1=0"), own: sql(expression) }, forwarding);
    const { judged } = adopt(armTemplate([["queues", "mail"], ...entities]));
    const effects = judged?.filter(({ kind }) => kind === "subscription").map(({ effect }) => effect);
    expect(effects).toEqual(["harmless"]);
  });

  test("and Azure's own rule lets in the messages of the others, too", () => {
    const adopted = adopt(armTemplate(withRules({ $Default: everything, own: sql("sys.Label = 'a'") })));
    expect(adopted.draft.system.consumers["mail"]).toMatchObject({ from: { events: "all" } });
  });
});

describe("a consumer that receives from a subscription that no declaration has is left out", () => {
  test.for([
    ["Label = 'a'", "a filter of a property with that name"],
    ["sys.Label = 'a' AND price > 3", "a filter of more"],
    ["sys.Label = 'a' OR price > 3", "a filter of something else"],
    ["sys.Label <> 'a'", "a filter of the others"],
    ["sys.Label LIKE 'a%'", "a filter of half a word"],
    ["sys.Label LIKE 'a_c.%'", "a filter of one character"],
    ["sys.Label = '*'", "a key that would be a pattern"],
    ["1=0", "a filter of nothing"],
  ] as const)("%s, %s", ([expression]) => {
    const { draft, refused } = adopt(armTemplate(withRules({ own: sql(expression) })));
    expect(Object.keys(draft.system.consumers)).toEqual(["orders"]);
    expect(refused).toEqual([
      { place: "events/Subscriptions/mail", fact: expect.stringMatching(/^it is left out: .*no routing key/) },
    ]);
  });

  test("for other reasons", () => {
    const reasonOf = (entities: readonly ArmEntity[]) => adopt(armTemplate(entities)).refused.map(({ fact }) => fact);
    // One key, and no name of a rule.
    const quoted = sql("sys.Label = 'it''s OR sys.Label = b'");
    expect(reasonOf(withRules({ own: quoted }))).toEqual([expect.stringContaining("it's OR sys.Label = b")]);
    const changing = { ...everything, action: { sqlExpression: "SET sys.Label = 'b'" } };
    expect(reasonOf(withRules({ $Default: changing }))).toEqual(["it is left out: a rule of it changes messages"]);
    expect(
      reasonOf([
        ["queues", "orders"],
        ["topics", "a~b"],
        ["subscriptions", "a~b/mail"],
        ["rules", "a~b/mail/$Default"],
      ]),
    ).toEqual(["it is left out: a declaration has no topic of this name"]);
  });

  test("and alone it is nothing to adopt", () => {
    const [, ...others] = withRules({ own: sql("price > 3") });
    const read = brokers.servicebus.auditor.file.read(armTemplate(others));
    const target = parseTarget("servicebus@standard");
    const answer = read.ok && target.ok ? adoptDeployment(read.value, target.value, { name: "s", queues: [] }) : read;
    expect(answer.ok ? [] : answer.diagnostics).toMatchObject([
      { code: "RD331", notes: [expect.stringMatching(/^events\/Subscriptions\/mail: .*no routing key/)] },
    ]);
  });
});
