import { describe, expect, test } from "vitest";

import { type CompiledSystem, brokers, checkSystem, compile, parseTarget } from "../../src/index.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked } from "../support/examples.ts";

const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
const declared = (from: unknown, kind = "headers"): object => ({
  name: "shop",
  sources: { files: { kind, name: "files", owner: "other" } },
  consumers: { billing: { from: { files: from }, retry } },
});
const invoices = { match: "all", headers: { type: "invoice", region: "eu" } };

function problems(input: object): readonly string[] {
  const result = checkSystem(input);
  return result.ok
    ? []
    : result.diagnostics.map(({ code, path, message, help }) => `${code} ${path}: ${message}; ${help}`);
}

const target = parseTarget("rabbitmq@4.0", "staged");

function compiled(from: unknown): CompiledSystem<"rabbitmq"> {
  return accepted(compile(checked(declared(from)), { broker: "rabbitmq", version: "4.0", strategy: "staged" }));
}

test.each([
  [invoices, { "x-match": "all", type: "invoice", region: "eu" }],
  [
    { match: "any-with-x", headers: { "x-team": "red" } },
    { "x-match": "any-with-x", "x-team": "red" },
  ],
  ["all", { "x-match": "all" }],
])("%o is bound with its arguments", (from, expected) => {
  const { topology, contracts } = compiled(from);
  expect(topology.bindings.filter(({ source }) => source === "files")).toEqual([
    { source: "files", destination: "shop.billing", destinationKind: "queue", routingKey: "#", arguments: expected },
  ]);
  expect(contracts[0]?.sources).toEqual([{ exchange: "files", routingKeys: ["#"], arguments: expected }]);
});

test("an instance's own queue is bound with them, too", () => {
  const cache = { from: { files: invoices }, delivery: "every-instance" };
  const system = checked({ ...declared("all"), consumers: { cache } });
  const result = compile(system, { broker: "rabbitmq", version: "4.0" });
  expect(result.ok && result.value.contracts[0]?.instanceQueue?.bindings).toEqual([
    { exchange: "files", routingKey: "#", arguments: { "x-match": "all", ...invoices.headers } },
  ]);
});

describe("the proof finds a binding", () => {
  const withArguments = (given: Readonly<Record<string, string>>): readonly string[] => {
    const system = compiled(invoices);
    const bindings = system.topology.bindings.map((each) =>
      each.source === "files" ? { ...each, arguments: given } : each,
    );
    if (!target.ok) throw new Error("no target");
    const broken = { ...system, topology: { ...system.topology, bindings } };
    const verdicts = verifyAll(brokers.rabbitmq.subjectsOf(broken, target.value as never));
    return verdicts.flatMap(({ violations }) => violations.map(({ property }) => property));
  };
  test.each([
    ["with one header more", { "x-match": "all", ...invoices.headers, size: "big" }],
    ["with another value", { "x-match": "all", type: "invoice", region: "us" }],
    ["with one header less, which takes more", { "x-match": "all", type: "invoice" }],
    ["of any of the headers, which takes more", { "x-match": "any", ...invoices.headers }],
    ["without headers, which takes everything", {}],
  ])("%s", (_name, given) => {
    expect(withArguments(given as Record<string, string>)).not.toEqual([]);
  });
  test("and accepts the declared one", () => {
    expect(withArguments({ "x-match": "all", ...invoices.headers })).toEqual([]);
  });
});

test.each([
  [
    ["invoice"],
    "headers",
    'RD110 consumers.billing.from.files: a headers source ignores routing keys, so the list would filter nothing; write "all", or the headers, for example { match: "all", headers: { type: "invoice" } }',
  ],
  [
    invoices,
    "topic",
    'RD110 consumers.billing.from.files: a topic source does not look at headers; list routing keys, or give the source kind: "headers"',
  ],
  [
    { match: "any", headers: {} },
    "headers",
    'RD109 consumers.billing.from.files: no header is named; name one, or write "all"',
  ],
  [
    { match: "any", headers: { "x-team": "red" } },
    "headers",
    'RD110 consumers.billing.from.files.headers.x-team: match "any" ignores headers whose names begin with x-; write match: "any-with-x"',
  ],
])("%o of a source of kind %s is refused", (from, kind, expected) => {
  expect(problems(declared(from, kind))).toEqual([expected]);
});

test.each([
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
] as const)("$broker refuses a headers source", (other) => {
  const own = { ...declared(invoices), sources: { files: { kind: "headers" } } };
  const result = compile(checked(own), other);
  expect(result.ok).toBe(false);
  expect(
    result.ok
      ? []
      : result.diagnostics.filter(({ severity }) => severity === "error").map(({ code, path }) => `${code} ${path}`),
  ).toEqual(["RD216 sources.files.kind"]);
});
