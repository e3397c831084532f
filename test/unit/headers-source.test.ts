import { describe, expect, test } from "vitest";

import { bindingIdentity } from "../../src/brokers/rabbitmq/compile/parts.ts";
import type { BindingResource } from "../../src/brokers/rabbitmq/compile/topology.ts";
import { type CompiledSystem, brokers, checkSystem, compile, parseTarget, plan } from "../../src/index.ts";
import { originOf } from "../../src/report/sentences.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { accepted, checked } from "../support/examples.ts";
import { binding, exchange, queue, vhosts } from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

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
  [
    { match: "any", headers: { version: 2, price: -1.5, urgent: false } },
    { "x-match": "any", version: 2, price: -1.5, urgent: false },
  ],
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

const versions = [
  { match: "all", headers: { version: 1 } },
  { match: "all", headers: { version: "1", urgent: true } },
];

test("each of several matches is a binding of its own, with a name of its own", () => {
  const { topology, contracts } = compiled(versions);
  const own = topology.bindings.filter(({ source }) => source === "files");
  expect(own.map((each) => each.arguments)).toEqual([
    { "x-match": "all", version: 1 },
    { "x-match": "all", version: "1", urgent: true },
  ]);
  expect(contracts[0]?.sources.map((each) => each.arguments)).toEqual(own.map((each) => each.arguments));
  const alike = [1, "1", true, "true"].map((value) => ({ match: "all", headers: { value } }));
  const names = compiled(alike).topology.bindings.map(bindingIdentity);
  expect(new Set(names).size).toBe(names.length);
  // An update of Redeliver must not delete the binding of a deployed system.
  expect(bindingIdentity(compiled(invoices).topology.bindings.at(-1) as BindingResource)).toBe(
    "files/queue/shop.billing/#/x-match=all/type=invoice/region=eu",
  );
});

test("reports tell a number from a text", () => {
  const [consumer] = plan(checked(declared(versions))).consumers;
  expect(consumer && originOf(consumer)).toBe('files (all of version=1; all of version="1", urgent=true)');
});

describe("the proof finds a binding", () => {
  const propertiesOf = (
    from: unknown,
    change: (bindings: readonly BindingResource[]) => readonly BindingResource[],
  ) => {
    const system = compiled(from);
    const { bindings } = system.topology;
    const own = bindings.filter(({ source }) => source === "files");
    const others = bindings.filter(({ source }) => source !== "files");
    if (!target.ok) throw new Error("no target");
    const broken = { ...system, topology: { ...system.topology, bindings: [...others, ...change(own)] } };
    const verdicts = verifyAll(brokers.rabbitmq.subjectsOf(broken, target.value as never));
    return verdicts.flatMap(({ violations }) => violations.map(({ property }) => property));
  };
  const withArguments = (given: BindingResource["arguments"], from: unknown = invoices): readonly string[] =>
    propertiesOf(from, (own) => own.map((each) => ({ ...each, arguments: given })));
  test("that is missing among several", () => {
    for (const one of [0, 1]) expect(propertiesOf(versions, (own) => [own[one] as BindingResource])).not.toEqual([]);
    expect(propertiesOf(versions, (own) => own.toReversed())).toEqual([]);
  });
  test("with a text in place of a number or a boolean", () => {
    const own = { match: "all", headers: { version: 1, urgent: true } };
    expect(withArguments({ "x-match": "all", version: 1, urgent: true }, own)).toEqual([]);
    expect(withArguments({ "x-match": "all", version: "1", urgent: true }, own)).not.toEqual([]);
    expect(withArguments({ "x-match": "all", version: 1, urgent: "true" }, own)).not.toEqual([]);
  });
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
  [
    [invoices, { match: "all", headers: { region: "eu", type: "invoice" } }],
    "headers",
    "RD110 consumers.billing.from.files[1]: the match is listed twice; remove one of the two",
  ],
  [
    [invoices, { match: "any", headers: { "x-team": "red" } }],
    "headers",
    'RD110 consumers.billing.from.files[1].headers.x-team: match "any" ignores headers whose names begin with x-; write match: "any-with-x"',
  ],
  [
    [invoices],
    "fanout",
    'RD110 consumers.billing.from.files: a fanout source does not look at headers; list routing keys, or give the source kind: "headers"',
  ],
])("%o of a source of kind %s is refused", (from, kind, expected) => {
  expect(problems(declared(from, kind))).toEqual([expected]);
});

test.each([{ version: null }, { version: 2 ** 53 }, { version: ["1"] }])("the headers %o are refused", (headers) => {
  expect(checkSystem(declared({ match: "all", headers })).ok).toBe(false);
  expect(checkSystem(declared([{ match: "all", headers }])).ok).toBe(false);
});

test("adopt declares each match, with its types, and lists the bindings that it cannot say", () => {
  const asked = [
    { "x-match": "any", version: 2, urgent: true },
    { type: "invoice" },
    { "x-match": "all", type: "invoice", "x-team": "red" },
    { "x-match": "all", present: null },
  ];
  const bindings = asked.map((given, index) => ({ ...binding("files", "orders", String(index)), arguments: given }));
  const queues = [queue("orders", { "x-queue-type": "quorum" })];
  const { draft, unsaid } = adoptText(
    JSON.stringify({ vhosts, queues, exchanges: [exchange("files", "headers")], bindings }),
  );
  expect(draft.system.consumers).toMatchObject({
    orders: {
      from: {
        files: [
          { match: "any", headers: { version: 2, urgent: true } },
          // The last one asks for the same: the broker ignores x-team.
          { match: "all", headers: { type: "invoice" } },
        ],
      },
    },
  });
  expect(unsaid.map(({ place, fact }) => `${place}: ${fact}`)).toContainEqual(
    expect.stringMatching(/^files: a declaration cannot say its binding to orders, because its type is headers/),
  );
  expect(checkSystem(draft.system).ok).toBe(true);
});

test("Service Bus refuses a headers source", () => {
  const own = { ...declared(invoices), sources: { files: { kind: "headers" } } };
  const result = compile(checked(own), { broker: "servicebus", sku: "standard" });
  expect(result.ok).toBe(false);
  const errors = result.ok ? [] : result.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual(["RD216 sources.files.kind"]);
});
