import { expect, test } from "vitest";

import { checkTarget } from "../../src/brokers/index.ts";
import { brokers, checkSystem, compile, type CompiledSystem, parseTarget } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { binding, exchange, queue, vhosts } from "../support/known-topologies.ts";

const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
const hash = { kind: "opaque", exchangeType: "x-consistent-hash", name: "events", owner: "other" };
const declared = (source: object, from: unknown = ["10"]): object => ({
  name: "shop",
  sources: { events: source },
  consumers: { billing: { from: { events: from }, retry } },
});

test.each(["native", "staged", "waits"] as const)("%s binds to the exchange, and never declares it", (strategy) => {
  const { topology }: CompiledSystem<"rabbitmq"> = accepted(
    compile(checked(declared(hash)), { broker: "rabbitmq", version: "4.3", strategy }),
  );
  expect(topology.exchanges.filter(({ role }) => role === "source")).toMatchObject([
    { name: "events", owner: "other", pluginType: "x-consistent-hash" },
  ]);
  expect(topology.bindings.filter(({ source }) => source === "events")).toMatchObject([
    { destination: "shop.billing", routingKey: "10", arguments: {} },
  ]);
});

test("an unchanged declaration of it is no difference", () => {
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  const compiled = accepted(compile<"rabbitmq">(checked(declared(hash)), target));
  const { compare, deploymentOf } = brokers.rabbitmq.differ;
  const found = accepted(compare(deploymentOf(compiled), compiled, accepted(checkTarget<"rabbitmq">(target))));
  expect(found.differences).toEqual([]);
});

test.for([
  ["of its own system", { ...hash, owner: "system" }, "rabbitmq@4.3", "RD222"],
  ["without a type", { ...hash, exchangeType: undefined }, "rabbitmq@4.3", "RD222"],
  ["of another kind with a type", { ...hash, kind: "topic" }, "rabbitmq@4.3", "RD222"],
  ["of another kind with a type", { ...hash, kind: "topic" }, "sqs@eu-west-1", "RD222"],
  ["of another kind with a type", { ...hash, kind: "topic" }, "servicebus@standard", "RD222"],
  ["on SQS", hash, "sqs@eu-west-1", "RD216"],
  ["on Service Bus", hash, "servicebus@standard", "RD216"],
] as const)("a source %s is refused", ([, source, on, code]) => {
  const target = parseTarget(on);
  if (!target.ok) throw new Error("no target");
  const sound = JSON.parse(JSON.stringify(source)) as { readonly exchangeType?: unknown };
  const from = sound.exchangeType === undefined ? "all" : ["10"];
  const result = compile(checked(declared(sound, from)), target.value);
  expect(result.ok ? [] : result.diagnostics.map((each) => each.code)).toContain(code);
});

test("its keys are those of bindings, so all of it cannot be taken", () => {
  const result = checkSystem(declared(hash, "all"));
  expect(result.ok ? [] : result.diagnostics.map(({ code }) => code)).toEqual(["RD110"]);
});

test.each(["a.#", "0", "-1", "1.5"])("the key %j of a consistent hash is no weight", (key) => {
  const result = checkSystem(declared(hash, ["10", key]));
  expect(result.ok ? [] : result.diagnostics.map((each) => `${each.code} ${each.path}`)).toEqual([
    "RD110 consumers.billing.from.events[1]",
  ]);
  expect(checkSystem(declared({ ...hash, exchangeType: "x-modulus-hash" }, ["10", key])).ok).toBe(true);
});

test("adopt declares a binding with a key, and leaves one with arguments", () => {
  const text = JSON.stringify({
    vhosts,
    queues: [queue("orders", { "x-queue-type": "quorum" })],
    exchanges: ["events", "others"].map((name) => exchange(name, "x-consistent-hash")),
    bindings: [binding("events", "orders", "20"), { ...binding("others", "orders", "20"), arguments: { weight: 1 } }],
  });
  const { draft, unsaid } = adoptText(text);
  expect(draft.system["sources"]).toEqual({ events: hash });
  expect(draft.system.consumers).toMatchObject({ orders: { from: { events: ["20"] } } });
  expect(unsaid.map(({ place, fact }) => `${place}: ${fact}`)).toContainEqual(
    expect.stringMatching(
      /^others: a declaration cannot say its binding to orders, because its type is x-consistent-hash;/,
    ),
  );
});
