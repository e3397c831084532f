import { expect, test } from "vitest";

import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import { leftBehind } from "../../src/migrate/left-behind.ts";
import { brokers, checkSystem, compile, type CompiledSystem, type System, type TargetInput } from "../../src/index.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { register, resourcesOf, type ProgramRun } from "../support/pulumi.ts";
import { registerServicebus } from "../support/servicebus/register.ts";
import { registerSqs } from "../support/sqs/register.ts";

const billing = {
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "10s",
  deadLetter: { alarmAbove: 0 },
} as const;
const keyed = { ...billing, order: "per-key", retry: { attempts: 3, backoff: { kind: "immediate" } } } as const;
const shop = checked({ name: "shop", consumers: { billing } });
const targets = {
  rabbitmq: { broker: "rabbitmq", version: "4.3" },
  sqs: { broker: "sqs", region: "eu-west-1", kmsKey: "alias/shop" },
  servicebus: { broker: "servicebus", sku: "standard" },
} as const satisfies Record<string, TargetInput>;

function compiledFor<Name extends keyof typeof targets>(name: Name, system = shop): CompiledSystem<Name> {
  const compiled = accepted(compile(system, targets[name]));
  return compiled as CompiledSystem<Name>;
}

/** The same system, with a source. */
function sourced({ name, consumers }: System): System {
  const from = { orders: "all" };
  const taking = Object.entries(consumers).map(([key, consumer]) => [key, { ...consumer, from }]);
  return checked({ name, sources: { orders: { kind: "topic" } }, consumers: Object.fromEntries(taking) });
}

/** The policy pack has the same objections with a source. So none is about the way in. */
async function expectSameFindings(direct: ProgramRun, other: ProgramRun): Promise<void> {
  const [found, expected] = await Promise.all(
    [direct, other].map(async (run) => (await foundInProcess(run)).map(({ message }) => message)),
  );
  expect(found).toEqual(expected);
}

const named = (run: ProgramRun, kind: string, key: string): readonly unknown[] =>
  resourcesOf(run, kind)
    .map(({ inputs }) => inputs[key])
    .toSorted();

test.for(["4.3", "4.0", "3.10"])("RabbitMQ %s binds nothing to the work queue but the ways back", async (version) => {
  const run = await register(shop, version);
  expect(run.error).toBeUndefined();
  expect(named(run, "Queue", "name")).toContain("shop.billing");
  const into = resourcesOf(run, "Binding").filter(({ inputs }) => inputs["destination"] === "shop.billing");
  for (const { inputs } of into) expect(inputs["source"]).toBe("shop.again");
  await expectSameFindings(run, await register(sourced(shop), version));
});

test("SQS makes two queues that no topic may send to, and one alarm", async () => {
  const run = await registerSqs(shop, { broker: "sqs", region: "eu-west-1" });
  expect(run.error).toBeUndefined();
  expect(named(run, "Queue", "name")).toEqual(["shop-billing", "shop-billing-dead"]);
  for (const kind of ["Topic", "TopicSubscription"]) expect(resourcesOf(run, kind)).toEqual([]);
  const statements = resourcesOf(run, "QueuePolicy").flatMap(
    ({ inputs }) => (JSON.parse(String(inputs["policy"])) as { Statement: readonly { Sid: string }[] }).Statement,
  );
  expect(statements.map(({ Sid }) => Sid)).toEqual(["TlsOnly", "TlsOnly"]);
  expect(named(run, "MetricAlarm", "name")).toEqual(["shop-billing-dead-depth"]);
  await expectSameFindings(run, await registerSqs(sourced(shop), targets.sqs));
});

test("the policy of a KMS key concerns only messages from a topic", () => {
  const codes = (system: typeof shop): readonly string[] => {
    const compiled = compile(system, targets.sqs);
    return compiled.ok ? compiled.warnings.map(({ code }) => code) : ["refused"];
  };
  expect(codes(shop)).toEqual(["RD207"]);
  const mixed = checked(shopWith({ billing, mail: { ...billing, from: { orders: "all" } } }));
  expect(codes(mixed)).toEqual(["RD623", "RD207", "RD207"]);
});

test.for([
  ["in any order", billing, false],
  ["per key", keyed, true],
] as const)("Service Bus makes one queue, %s", async ([, consumer, requiresSession]) => {
  const system = checked({ name: "shop", consumers: { billing: consumer } });
  const run = await registerServicebus(system, targets.servicebus);
  expect(run.error).toBeUndefined();
  expect(resourcesOf(run, "Queue").map(({ inputs }) => [inputs["queueName"], inputs["requiresSession"]])).toEqual([
    ["shop.billing", requiresSession],
  ]);
  for (const kind of ["Topic", "Subscription"]) expect(resourcesOf(run, kind)).toEqual([]);
  await expectSameFindings(run, await registerServicebus(sourced(system), targets.servicebus));
});

test("the contract names the way in", () => {
  const [rabbitmq] = compiledFor("rabbitmq").contracts;
  expect(rabbitmq?.sources).toEqual([{ exchange: "", routingKeys: ["shop.billing"] }]);
  const ordered = checked({ name: "shop", consumers: { billing: keyed } });
  const [sqs] = compiledFor("sqs", ordered).contracts;
  const most = { messageAttributes: 10, messageBytes: 1_048_576 };
  expect(sqs?.sources).toEqual([{ queue: "shop-billing.fifo", fifo: true, most }]);
  const [servicebus] = compiledFor("servicebus", ordered).contracts;
  const entity = { kind: "queue", name: "shop.billing" };
  expect(servicebus?.sources).toEqual([{ source: null, entity, routingKeys: "all", sessions: true }]);
});

test.for(["rabbitmq", "sqs", "servicebus"] as const)("the picture begins with the producers: %s", (name) => {
  const { nodes, edges } = brokers[name].graphOf(compiledFor(name) as never);
  const producers = nodes.find(({ kind }) => kind === "source");
  expect(producers?.label).toBe("producers");
  expect(edges.filter(({ kind }) => kind === "publish").map(({ from, to }) => [from, to])).toEqual([
    [producers?.id, compiledFor(name).contracts[0]?.workQueue],
  ]);
});

test("direct consumers that differ only in names need one proof", () => {
  const consumers = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`c${index}`, billing]));
  const many = checked({ name: "shop", consumers });
  for (const strategy of ["native", "staged", "waits"] as const) {
    const target = { broker: "rabbitmq", version: "4.3", strategy } as const;
    const compiled = accepted(compile(many, target));
    const whole = accepted(brokers.rabbitmq.checkTarget(target));
    const shapes = brokers.rabbitmq.subjectsOf(compiled, whole).map(({ shape }) => shape());
    expect(new Set(shapes).size).toBe(1);
  }
});

test.for([
  ["an empty from", { ...billing, from: {} }, "RD109 consumers.billing.from"],
  ["a queue for every instance", { delivery: "every-instance" }, "RD109 consumers.billing.from"],
  ["an undeclared source", { ...billing, from: { orders: "all" } }, "RD108 consumers.billing.from.orders"],
  ["no list", { ...billing, from: null }, "RD101 consumers.billing.from"],
] as const)("%s is refused", ([, consumer, problem]) => {
  const result = checkSystem({ name: "shop", consumers: { billing: consumer } });
  expect(result.ok ? [] : result.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([problem]);
});

test("a consumer can change from a source to its queue and back", () => {
  for (const target of Object.values(targets)) {
    for (const consumer of target.broker === "rabbitmq" ? [billing] : [billing, keyed]) {
      const direct = checked({ ...sourced(shop), consumers: { billing: consumer } });
      const [a, b] = [readDeployed(sourced(direct), target), readDeployed(direct, target)];
      if (a === null || b === null) throw new Error("refused");
      const problems = [...refuseChange(a, b), ...refuseChange(b, a)].map(({ code, path }) => `${code} ${path}`);
      // With order a consumer of a source receives from its subscription. Messages could wait in the other place.
      const isMoved = consumer === keyed && target.broker === "servicebus";
      expect(problems).toEqual(isMoved ? Array.from({ length: 2 }, () => "RD302 consumers.billing.from") : []);
      const names = leftBehind(b, a).map(({ kind, name }) => `${kind} ${name}`);
      expect(names).toEqual(isMoved ? ["queue shop.billing"] : []);
    }
  }
});
