import { describe, expect, test } from "vitest";

import { writeYaml } from "../../src/adopt/write-yaml.ts";
import { parseText } from "../../src/declare/parse.ts";
import { checkSystem } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { adoptedShapes, templateOfShape } from "../support/servicebus/adopted-shapes.ts";
import { type ArmEntity, armTemplate } from "../support/servicebus/arm-template.ts";

const adopt = (text: string): Adopted => adoptText(text, "servicebus@standard", "shop", "servicebus");
const factsOf = ({ unsaid }: Adopted): readonly string[] => unsaid.map(({ place, fact }) => `${place}: ${fact}`);

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
      ["queues", "payments"],
      ["queues", "invoices", { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT10M" }],
    ]),
  );
  expect(mixed.imports.left).toEqual([
    { place: "queue invoices", fact: "requiresDuplicateDetection is true, declared is false" },
  ]);
  expect(factsOf(mixed)).toContainEqual(
    expect.stringMatching(/DuplicateDetectionHistoryTimeWindow is none and 10m, and duplicates of a target is one/),
  );
});

test.for([
  [
    "a tier by another name",
    ["queues", "orders-later", { defaultMessageTimeToLive: "PT30S", forwardDeadLetteredMessagesTo: "orders" }],
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
