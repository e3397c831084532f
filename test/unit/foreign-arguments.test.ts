import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { differencesIn } from "../../src/brokers/rabbitmq/compile/differences.ts";
import { checkTarget } from "../../src/brokers/index.ts";
import { brokers, checkSystem, compile, type CompiledSystem, parseTarget } from "../../src/index.ts";
import { judgeDrift } from "../../src/migrate/judge-drift.ts";
import { accepted, checked } from "../support/examples.ts";
import { runCommand } from "../support/run-command.ts";

// The arguments of another owner's exchange are compared, and never written.

const theirs = { kind: "topic", name: "events.orders", owner: "other" };
const target = { broker: "rabbitmq", version: "4.3" } as const;

function declared(source: object): object {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
  const sources = { orders: source, own: { kind: "fanout" } };
  return { name: "shop", sources, consumers: { billing: { from: { orders: ["a"], own: "all" }, retry } } };
}

function compiledWith(given?: object): CompiledSystem<"rabbitmq"> {
  return accepted(compile<"rabbitmq">(checked(declared({ ...theirs, ...(given && { arguments: given }) })), target));
}

test("nothing that is deployed or exported changes by them", () => {
  const [plain, assuming] = [compiledWith(), compiledWith({ "alternate-exchange": "unrouted", "x-note": 5 })];
  const { exportFormats, deployedPartsOf } = brokers.rabbitmq;
  for (const render of Object.values(exportFormats)) expect(render(assuming, "/")).toEqual(render(plain, "/"));
  expect(deployedPartsOf(assuming)).toEqual(deployedPartsOf(plain));
  const [first, ...others] = assuming.topology.exchanges;
  expect(first).toMatchObject({ arguments: {}, assumedArguments: { "alternate-exchange": "unrouted", "x-note": 5 } });
  expect([first, ...others].map((each) => ({ ...each, assumedArguments: undefined }))).toEqual(
    plain.topology.exchanges.map((each) => ({ ...each, assumedArguments: undefined })),
  );
  expect({ ...assuming, topology: { ...assuming.topology, exchanges: [] } }).toEqual({
    ...plain,
    topology: { ...plain.topology, exchanges: [] },
  });
});

const named = { ...theirs, arguments: { "alternate-exchange": "unrouted" } };
const arn = "arn:aws:sns:eu-west-1:123456789012:events";

test.for([
  ["rabbitmq@4.3", { ...named, owner: "system" }],
  ["rabbitmq@3.10", { kind: "topic", arguments: {} }],
  ["sqs@eu-west-1", { ...named, name: arn }],
  ["sqs@eu-west-1", { ...named, name: undefined, owner: "system" }],
  ["servicebus@standard", named],
] as const)("%s refuses them for %j", ([on, source]) => {
  const parsed = accepted(parseTarget(on));
  const result = compile(checked(declared(JSON.parse(JSON.stringify(source)) as object)), parsed);
  const errors = result.ok ? [] : result.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual(["RD222 sources.orders.arguments"]);
});

test.for([
  [["a"], "RD101", ".hash-header"],
  // No value here is a duration.
  [[1], "RD101", ".hash-header"],
  [null, "RD101", ".hash-header"],
  [{ a: 1 }, "RD101", ".hash-header"],
  [2 ** 53, "RD104", ".hash-header"],
] as const)("the value %j gets one diagnostic", ([value, code, place]) => {
  const result = checkSystem(declared({ ...theirs, arguments: { "hash-header": value } }));
  const found = result.ok ? [] : result.diagnostics;
  expect(found.map((each) => `${each.code} ${each.path}`)).toEqual([`${code} sources.orders.arguments${place}`]);
  if (code === "RD101") expect(found[0]?.help).toBe("write a text, a number or a boolean, or leave the argument out");
});

test.for([null, [], "unrouted"])("%j in place of the mapping gets one diagnostic", (given) => {
  const result = checkSystem(declared({ ...theirs, arguments: given }));
  expect(result.ok ? [] : result.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "RD101 sources.orders.arguments",
  ]);
});

test.for([
  [{ "alternate-exchange": "unrouted" }, {}, [["alternate-exchange", "unrouted", undefined]]],
  [
    { "alternate-exchange": "unrouted" },
    { "alternate-exchange": "rest" },
    [["alternate-exchange", "unrouted", "rest"]],
  ],
  [
    { a: 2, b: true },
    { a: "2", b: "true" },
    [
      ["a", 2, "2"],
      ["b", true, "true"],
    ],
  ],
  [{ a: 2, type: "x" }, { a: 2, type: "y" }, [["type", "x", "y"]]],
  [{ a: 2 }, { a: 2, b: 3, constructor: "x" }, []],
  [{}, { a: 2 }, []],
  [undefined, { a: 2 }, []],
] as const)("%j and on the broker %j", ([given, there, wanted]) => {
  const compiled = compiledWith(given);
  const exchanges = compiled.topology.exchanges.map(({ name, kind, arguments: own }) => {
    return [name, { kind, arguments: name === theirs.name ? there : own, policy: null }] as const;
  });
  const found = { queues: new Map(), exchanges: new Map(exchanges), bindings: [] };
  const differences = differencesIn(compiled.topology, found).filter(({ change }) => change === "different");
  expect(differences).toEqual(
    wanted.length === 0
      ? []
      : [
          {
            change: "different",
            kind: "foreign-arguments",
            name: theirs.name,
            settings: wanted.map(([key, declaredValue, deployed]) => ({ key, declared: declaredValue, deployed })),
          },
        ],
  );
});

const { compare, deploymentOf } = brokers.rabbitmq.differ;

test.for([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, ["otherwise"]],
  // Neither declaration says that the exchange has changed.
  [{ a: 1 }, undefined, []],
  [undefined, { a: 1 }, []],
] as const)("a declaration with %j, and a newer one with %j", ([old, next, wanted]) => {
  const [before, after] = [compiledWith(old), compiledWith(next)];
  const drift = accepted(compare(deploymentOf(after, before), before, accepted(checkTarget<"rabbitmq">(target))));
  const judged = judgeDrift(drift);
  expect(judged.map(({ effect }) => effect)).toEqual(wanted);
  for (const each of judged) expect(each).toMatchObject({ kind: "exchange", name: theirs.name });
});

test("another alternate exchange loses none of the messages that consumers take", () => {
  const [compiled, other] = ["shop.own", "rest"].map((name) => compiledWith({ "alternate-exchange": name })) as [
    CompiledSystem<"rabbitmq">,
    CompiledSystem<"rabbitmq">,
  ];
  const drift = accepted(compare(deploymentOf(other), compiled, accepted(checkTarget<"rabbitmq">(target))));
  expect(judgeDrift(drift)).toMatchObject([
    {
      effect: "otherwise",
      settings: [{ key: "alternate-exchange", declared: "shop.own", deployed: "rest" }],
      repair: expect.stringMatching(/^it belongs to somebody else: declare the values that it has/),
    },
  ]);
});

const folder = mkdtempSync(join(tmpdir(), "redeliver-foreign-arguments-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a change of them alone needs no steps, and check accepts it", async () => {
  const written = (name: string, given: object): string => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(declared({ ...theirs, arguments: given })));
    return file;
  };
  const [old, next] = [written("old", { a: 1 }), written("next", { a: 2 })];
  const words = [next, "--from", old, "--target", "rabbitmq@4.3"];
  const plan = await runCommand(["migrate", ...words]);
  expect(plan).toMatchObject({ code: 0, error: "" });
  expect(plan.out).toContain("one deployment makes this change");
  expect(await runCommand(["check", ...words])).toMatchObject({ code: 0, error: "" });
});
