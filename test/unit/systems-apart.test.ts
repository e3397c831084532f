import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { accepted } from "../support/examples.ts";
import { binding, deadTo, exchange, queue, vhosts, waiting } from "../support/known-topologies.ts";
import { adopting } from "../support/reported-by-adopt.ts";
import { armTemplate } from "../support/servicebus/arm-template.ts";
import { adoptedShapes as servicebusShapes, templateOfShape } from "../support/servicebus/adopted-shapes.ts";
import { adoptedShapes as sqsShapes, listingOfShape } from "../support/sqs/adopted-shapes.ts";
import { queue as sqsQueue, redriveTo } from "../support/sqs-listing.ts";

// The queues of two systems in one input, and the line that says so.

type Broker = "rabbitmq" | "sqs" | "servicebus";
const targets = { rabbitmq: "rabbitmq@4.3", sqs: "sqs@eu-west-1", servicebus: "servicebus@standard" };

function linesOf(broker: Broker, text: string, queues: readonly string[] = []): readonly string[] {
  const { unsaid } = accepted(adopting({ kind: "adopt", text, queues }, targets[broker], "shop", broker));
  return unsaid.flatMap(({ place, fact }) => (fact.includes("another system") ? [`${place}: ${fact}`] : []));
}

const names = ["orders-billing", "orders-mail", "orders-tax", "leads-import", "leads-score"];
const rabbitmq = (
  more: {
    readonly exchanges?: readonly object[];
    readonly queues?: readonly object[];
    readonly bindings?: readonly object[];
  } = {},
  [own = {}, other = {}]: readonly object[] = [],
): string =>
  JSON.stringify({
    vhosts,
    exchanges: [exchange("shop", "topic"), exchange("crm", "topic"), ...(more.exchanges ?? [])],
    queues: [
      ...names.map((name) =>
        queue(name, {
          "x-queue-type": "quorum",
          ...(name === "orders-tax" ? own : name === "leads-score" ? other : {}),
        }),
      ),
      queue("support", { "x-queue-type": "quorum" }),
      ...(more.queues ?? []),
    ],
    bindings: [
      ...names.map((name) => binding(name.startsWith("orders") ? "shop" : "crm", name, name)),
      ...(more.bindings ?? []),
    ],
  });
const line =
  "leads-import, leads-score: no source, queue or first word of a name connects them with orders-billing, orders-mail, orders-tax; if they are another system, adopt each alone, this one by --queue leads-import --queue leads-score";

test.for([
  ["rabbitmq", rabbitmq()],
  [
    "sqs",
    JSON.stringify(
      [...names, "support"].flatMap((name) => [sqsQueue(name, redriveTo(`${name}-dlq`)), sqsQueue(`${name}-dlq`)]),
    ),
  ],
  ["servicebus", armTemplate([...names, "support"].map((name) => ["queues", name] as const))],
] as const)("%s: the smaller group is named with its words, and a single queue is none", ([broker, text]) => {
  expect(linesOf(broker, text)).toEqual([line]);
  expect(linesOf(broker, text, names.slice(0, 3))).toEqual([]);
});

test.for([
  ["a source", rabbitmq({ bindings: [binding("crm", "orders-mail", "lead.#")] })],
  [
    "an exchange before their sources",
    rabbitmq({
      exchanges: [exchange("all", "fanout")],
      bindings: [binding("all", "shop", "", "exchange"), binding("all", "crm", "", "exchange")],
    }),
  ],
  ["a dead queue", rabbitmq({ queues: [queue("dlq", { "x-queue-type": "quorum" })] }, [deadTo("dlq"), deadTo("dlq")])],
  [
    "a waiting queue",
    rabbitmq({
      exchanges: [exchange("back", "direct")],
      queues: [queue("wait", waiting(1_000, "back"))],
      bindings: [binding("back", "orders-tax", "a"), binding("back", "leads-score", "b")],
    }),
  ],
  ["the first word of their names", rabbitmq().replaceAll("leads-", "orders-leads-")],
] as const)("%s makes one system of them", ([, text]) => {
  expect(linesOf("rabbitmq", text)).toEqual([]);
});

test("topologies as frameworks and people make them are one system each", () => {
  const example = (name: string): string =>
    readFileSync(new URL(`../../examples/${name}.json`, import.meta.url), "utf8");
  const all: readonly (readonly [Broker, string])[] = [
    ...Object.values(adoptedTopologies).map((each) => ["rabbitmq", exportOf(each)] as const),
    ...["masstransit", "spring", "hand-written"].map((name) => ["rabbitmq", example(name)] as const),
    ...Object.values(sqsShapes()).map((each) => ["sqs", JSON.stringify(listingOfShape(each))] as const),
    ["sqs", example("hand-made-queues")],
    ...Object.values(servicebusShapes).map((each) => ["servicebus", templateOfShape(each)] as const),
  ];
  expect(all.flatMap(([broker, text]) => linesOf(broker, text))).toEqual([]);
});
