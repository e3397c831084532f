import { describe, expect, test } from "vitest";

import { parseText } from "../../src/declare/parse.ts";
import { checkSystem } from "../../src/index.ts";
import { oneConsumer } from "../support/examples.ts";

const answersTo = (input: unknown): readonly (readonly [string, string, string | undefined])[] => {
  const result = checkSystem(input);
  return (result.ok ? result.warnings : result.diagnostics).map(({ code, path, help }) => [code, path, help]);
};
const ofSource = (kind: string) => ({ sources: { orders: { kind } } });

describe("a text that looks like something else is taken as it is, with a warning", () => {
  const several = 'if you mean several, write ["order.placed", "order.cancelled"]';
  const list = 'write "all", without a list';
  test.for([
    ["all", list],
    ["any", list],
    ["*", list],
    ["order.placed order.cancelled", several],
    ["order.placed,order.cancelled", several],
    ["order.placed | order.cancelled", several],
    [" order.placed ", 'write "order.placed"'],
    ["order.{placed,cancelled}", 'write ["order.placed", "order.cancelled"]'],
    ["order.{a,b}.eu", 'write ["order.a.eu", "order.b.eu"]'],
    ["!order.cancelled", "list the keys to take, and let the handler skip the rest"],
    ["^order", 'write "order", or list the routing keys'],
    ["order.(placed|paid)", 'write "order.#", or list the routing keys'],
    ["${KEY}", "write the value, or declare the system in TypeScript"],
    ["order.{{ key }}", "write the value, or declare the system in TypeScript"],
  ] as const)("the routing key %s", ([key, help]) => {
    const input = oneConsumer({ from: { orders: [key] } }, ofSource("topic"));
    expect(answersTo(input)).toEqual([["RD121", "consumers.billing.from.orders[0]", help]]);
  });

  test.for(["order.placed", "#", "order.*.eu", "*.placed", "orderPlaced", "order-placed_1", "Größe", "allOrders"])(
    "but the routing key %s gets none",
    (key) => expect(answersTo(oneConsumer({ from: { orders: [key] } }, ofSource("topic")))).toEqual([]),
  );

  test("beside other keys, and on a direct source, a word stands for itself", () => {
    expect(answersTo(oneConsumer({ from: { orders: ["all", "order.#"] } }, ofSource("topic")))).toEqual([]);
    expect(answersTo(oneConsumer({ from: { orders: ["*"] } }, ofSource("fanout")))).not.toContainEqual(
      expect.arrayContaining(["RD121"]),
    );
    expect(answersTo(oneConsumer({ from: { orders: ["all"] } }, ofSource("direct")))).toEqual([
      ["RD121", "consumers.billing.from.orders[0]", "list the routing keys"],
    ]);
  });

  test.for([
    ["name", oneConsumer({}, { name: "${NAME}" })],
    ["consumers.billing.queue", oneConsumer({ queue: "billing.v2, billing.v3" })],
    [
      "consumers.billing.errors.permanent[0]",
      oneConsumer({ errors: { permanent: ["ValidationError NotFoundError"] } }),
    ],
    ["consumers.billing.errors.permanent[0]", oneConsumer({ errors: { permanent: ["Shop.Refused, Shop"] } })],
  ] as const)("%s", ([path, input]) => {
    expect(answersTo(input).map(([code, at]) => [code, at])).toEqual([["RD121", path]]);
  });

  test("a queue may have a blank in its name", () => {
    expect(answersTo(oneConsumer({ queue: "billing queue" }))).toEqual([]);
  });
});

describe("the way a consumer takes from its sources", () => {
  const at = "consumers.billing.from";
  const general =
    'write a list of routing keys, or "all"; of a headers source also { match: "all", headers: { … } }, and of an opaque one on SQS { filterPolicy: { … } }';
  const match = 'write it as { match: "all", headers: { type: "invoice" } }';
  test.for([
    ["keys in one text", "topic", "order.placed, order.paid", 'write it as ["order.placed", "order.paid"]'],
    ["a word for all", "topic", "any", 'write it as "all"'],
    ["headers", "headers", { type: "invoice" }, match],
    ["headers as in a binding", "headers", { "x-match": "all", type: "invoice" }, match],
    ["a filter of SQL", "topic", "sys.Label = 'placed'", general],
    ["a filter of SQL with its name", "topic", { sqlFilter: "type = 'invoice'" }, general],
  ] as const)("as %s", ([, kind, orders, help]) => {
    expect(answersTo(oneConsumer({ from: { orders } }, ofSource(kind)))).toEqual([["RD101", `${at}.orders`, help]]);
  });

  test("as a list of sources, of which one is not declared yet", () => {
    const input = oneConsumer({ from: ["orders", "payments"] }, ofSource("topic"));
    expect(answersTo(input)).toEqual([["RD101", at, 'write it as { orders: "all", payments: "all" }']]);
  });

  test.for([
    [String.raw`/order\..*/`, "RD110", "order.#"],
    [String.raw`^order\.[^.]+\.eu$`, "RD121", "order.*.eu"],
  ] as const)("as the regular expression %s", ([key, code, pattern]) => {
    const input = oneConsumer({ from: { orders: [key] } }, ofSource("topic"));
    const help = `write "${pattern}", or list the routing keys`;
    expect(answersTo(input)).toEqual([[code, `${at}.orders[0]`, help]]);
  });
});

describe("a text that is not well-formed", () => {
  const answerTo = (text: string, format: "json" | "yaml"): unknown => {
    const result = parseText(text, format);
    return result.ok ? null : result.diagnostics.map(({ code, help }) => [code, help]);
  };
  test.for([
    ["a: [*.placed]", 'write it in quotes: "*.placed"'],
    ["a: { orders: *all }", 'write it in quotes: "all"'],
    ["a:\n  - *.placed\n  - order.#", 'write it in quotes: "*.placed"'],
    ["a: [#]", 'write it in quotes: "#"'],
    ["a: [order.placed, #]", 'write it in quotes: "#"'],
    ["a:\n\tb: 1", "indent with blanks"],
    ["a: &x [1]\nb: *x\nc: [", "correct the text there"],
    ["# a: [*.old]\nb: [", "correct the text there"],
    ["# a: [*.old]\nb: [*.new]", 'write it in quotes: "*.new"'],
  ] as const)("as YAML: %s", ([text, help]) => expect(answerTo(text, "yaml")).toEqual([["RD002", help]]));

  test("an anchor that is there is no wildcard", () => expect(answerTo("a: &x [1]\nb: [*x]", "yaml")).toBeNull());

  test.for(["{ 'name': 'shop' }", "{ name: shop }", "name: shop\nsources: {}"])("as JSON: %s", (text) => {
    const help = "rename the file to .yaml, or write each key and each text in double quotes";
    expect(answerTo(text, "json")).toEqual([["RD002", help]]);
  });
});

test("two systems in one file belong into two files", () => {
  const { name: _name, ...system } = oneConsumer();
  const help = "write each system into a file of its own, with its keys at the top";
  expect(answersTo({ shop: system, crm: system })).toEqual([["RD102", "", help]]);
});

test("keys that are not indented are named, where all of them would be too long", () => {
  const consumers = Object.fromEntries(["billing", "mail"].map((name) => [name, oneConsumer().consumers.billing]));
  const help = "indent billing and mail by two blanks more, with all that is in them";
  expect(answersTo({ ...oneConsumer({}, { consumers: null }), ...consumers })).toEqual([["RD101", "consumers", help]]);
});

describe("a consumer without from, beside a source that nobody takes from, gets a warning", () => {
  const orders = (owner: object = {}) => ({ sources: { orders: { kind: "topic", ...owner } } });
  const straight = oneConsumer({ from: undefined }, orders());

  test("once, with the edit", () => {
    const help = 'write from: { orders: "all" }, or remove orders from the sources';
    expect(answersTo(straight)).toEqual([["RD122", "consumers.billing", help]]);
    const mended = {
      ...straight,
      consumers: { billing: { ...straight.consumers["billing"], from: { orders: "all" } } },
    };
    expect(answersTo(mended)).toEqual([]);
    expect(answersTo({ ...straight, sources: {} })).toEqual([]);
  });

  test("with a routing key, if the source takes no all", () => {
    const direct = oneConsumer({ from: undefined }, { sources: { orders: { kind: "direct" } } });
    const [, , help] = answersTo(direct)[0] ?? [];
    expect(help).toBe('write from: { orders: ["order.placed"] }, or remove orders from the sources');
  });

  test("but not if its old queue only drains", () => {
    expect(answersTo(oneConsumer({ from: undefined, formerly: "invoices" }, orders()))).toEqual([]);
  });

  test("but not if the source has a taker or another owner, or if each consumer has a source", () => {
    const { billing = {} } = straight.consumers;
    const taker = { ...billing, from: { orders: "all" } };
    expect(answersTo({ ...straight, consumers: { billing, taker } })).toEqual([]);
    expect(answersTo({ ...straight, ...orders({ owner: "other", name: "theirs" }) })).toEqual([]);
    const sources = { orders: { kind: "topic" }, events: { kind: "topic" } };
    expect(answersTo({ ...straight, consumers: { taker }, sources })).toEqual([]);
  });
});
