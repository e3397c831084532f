import { expect, test } from "vitest";

import { subjectsOf } from "../../src/brokers/rabbitmq/prove/model.ts";
import type { RabbitmqCompiled } from "../../src/brokers/rabbitmq/compile/compile.ts";
import type { RabbitmqTarget } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { joinPhases } from "../../src/explore/phases.ts";
import { brokers, compileAndProve, type TargetInput } from "../../src/index.ts";
import { type Deployed, deployedOf } from "../../src/migrate/deployed.ts";
import { proveChange } from "../../src/migrate/prove-change.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { verifyChange, verifyChanges } from "../../src/verify/verify-change.ts";
import { checked, shopWith } from "../support/examples.ts";

function deployed(retry: object, target: TargetInput, more: object = {}): Deployed {
  const billing = { from: { orders: ["order.placed"] }, retry, handlerTimeout: "20s", ...more };
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } });
  const proved = compileAndProve(system, target);
  if (!proved.ok) throw new Error(JSON.stringify(proved.diagnostics));
  return deployedOf({ ...proved.value, system });
}

const constant = (attempts: number, delay = "1s"): object => ({ attempts, backoff: { kind: "constant", delay } });
const doubling = (attempts: number, first = "1s"): object => ({
  attempts,
  backoff: { kind: "exponential", first, factor: 2 },
});
const rabbitmq = (strategy: string, version = "4.3"): TargetInput =>
  ({ broker: "rabbitmq", version, strategy }) as TargetInput;
const sqs: TargetInput = { broker: "sqs", region: "eu-west-1", strategy: "visibility" };
const servicebus: TargetInput = { broker: "servicebus", sku: "standard" };
const amqp10 = { protocol: "amqp-1.0" };

test.for<readonly [string, Deployed, Deployed, number]>([
  ["staged, 5 to 3", deployed(constant(5), rabbitmq("staged")), deployed(constant(3), rabbitmq("staged")), 5],
  ["staged, 3 to 5", deployed(constant(3), rabbitmq("staged")), deployed(constant(5), rabbitmq("staged")), 5],
  ["staged, delays", deployed(constant(4, "9s"), rabbitmq("staged")), deployed(doubling(4), rabbitmq("staged")), 4],
  ["staged, 1 to 3", deployed(constant(1), rabbitmq("staged")), deployed(constant(3), rabbitmq("staged")), 3],
  ["staged, 3 to 1", deployed(constant(3), rabbitmq("staged")), deployed(constant(1), rabbitmq("staged")), 3],
  [
    "staged, 4.0 to 4.3",
    deployed(doubling(4), rabbitmq("staged", "4.0")),
    deployed(doubling(4), rabbitmq("staged")),
    4,
  ],
  ["waits, 5 to 3", deployed(constant(5), rabbitmq("waits")), deployed(constant(3), rabbitmq("waits")), 5],
  [
    "waits, 3.10 to 3.13",
    deployed(doubling(4), rabbitmq("waits", "3.10")),
    deployed(doubling(5), rabbitmq("waits", "3.13")),
    5,
  ],
  [
    "waits, 3.13 to 3.10",
    deployed(doubling(4), rabbitmq("waits", "3.13")),
    deployed(doubling(5), rabbitmq("waits", "3.10")),
    5,
  ],
  ["native, 5 to 3", deployed(constant(5), rabbitmq("native")), deployed(constant(3), rabbitmq("native")), 5],
  [
    "deferred, 5 to 3",
    deployed(constant(5), rabbitmq("deferred"), amqp10),
    deployed(doubling(3), rabbitmq("deferred"), amqp10),
    5,
  ],
  ["SQS, 5 to 3", deployed(constant(5), sqs), deployed(constant(3), sqs), 5],
  ["Service Bus, 5 to 3", deployed(constant(5), servicebus), deployed(constant(3), servicebus), 5],
])("%s keeps every promise", ([, from, to, attempts]) => {
  expect(refuseChange(from, to)).toEqual([]);
  const { verdicts, warnings } = proveChange(from, to);
  expect(warnings).toEqual([]);
  expect(verdicts.map((each) => each.attempts)).toEqual([attempts]);
});

test.for<readonly [string, Deployed, Deployed, number]>([
  [
    "staged",
    deployed(constant(20), rabbitmq("staged"), { crash: { deliveries: 1000 } }),
    deployed(constant(20), rabbitmq("staged"), { crash: { deliveries: 900 } }),
    20,
  ],
  [
    "waits",
    deployed(constant(20), rabbitmq("waits"), { crash: { deliveries: 1000 } }),
    deployed(constant(20), rabbitmq("waits"), { crash: { deliveries: 1000 } }),
    20,
  ],
  ["Service Bus", deployed(constant(300), servicebus), deployed(constant(290), servicebus), 300],
])("%s: large budgets need few states", ([, from, to, attempts]) => {
  const [verdict] = proveChange(from, to).verdicts;
  expect(verdict).toMatchObject({ attempts, unsafe: [], weaker: [] });
  expect(verdict?.states).toBeLessThan(30_000);
});

test.for<readonly [string, Deployed, Deployed, RegExp]>([
  [
    "an attempt above ten begins again",
    deployed(constant(12), rabbitmq("staged")),
    deployed(constant(3), rabbitmq("staged")),
    /can have 14 attempts; 12 are declared/,
  ],
  [
    "after its last attempt a message is visible at once, and one more is allowed",
    deployed(constant(3), sqs),
    deployed(constant(5), sqs),
    /after the failure of attempt 3, the next one can come 0 ms later; 1000 to 1000 ms are declared/,
  ],
  [
    "a message is visible while an old handler still works",
    deployed(constant(3), { ...sqs, strategy: "redrive" } as TargetInput, { handlerTimeout: "60s" }),
    deployed(constant(3), { ...sqs, strategy: "redrive" } as TargetInput, { handlerTimeout: "10s" }),
    /ms before the end of the handler's time/,
  ],
])("%s", ([, from, to, wanted]) => {
  expect(refuseChange(from, to)).toEqual([]);
  const { warnings } = proveChange(from, to);
  expect(warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`)).toContainEqual(
    expect.stringMatching(wanted),
  );
});

test("a queue of SQS that deletes messages earlier is a warning, and one that keeps them longer is none", () => {
  const [day, ten, none] = ["1d", "10d", undefined].map((retain) =>
    deployed(constant(3), sqs, retain === undefined ? {} : { deadLetter: { retain } }),
  ) as [Deployed, Deployed, Deployed];
  const warned = (from: Deployed, to: Deployed): readonly string[] =>
    proveChange(from, to).warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  expect(warned(day, ten)).toEqual([
    "RD308 consumers.billing.deadLetter.retain: the queue shop-billing would keep messages for 4d; it keeps them for 13d",
  ]);
  expect(warned(day, none)).toEqual([
    "RD308 consumers.billing: the queue shop-billing would keep messages for 4d; it keeps them for 13d",
  ]);
  expect([...warned(ten, day), ...warned(ten, ten)]).toEqual([]);
});

test.for<readonly [string, Deployed, Deployed]>([
  [
    "the queue keeps messages for less time than old retries take",
    deployed(constant(6, "8h"), sqs),
    deployed(constant(6), sqs, { deadLetter: { retain: "13d" } }),
  ],
  [
    "handlers of the old contract take too long for more attempts",
    deployed(constant(1), sqs, { handlerTimeout: "11h", deadLetter: { retain: "13d" } }),
    deployed(constant(3), sqs, { deadLetter: { retain: "13d" } }),
  ],
])("a change that can lose a message on SQS is refused: %s", ([, from, to]) => {
  expect(refuseChange(from, to)).toEqual([]);
  expect(proveChange(from, to).problems.map(({ code, path, message }) => `${code} ${path}: ${message}`)).toEqual([
    "RD305 consumers.billing: a message is lost: SQS deletes it at the end of its retention, for messages that wait during the change",
  ]);
});

test("consumers that differ only in names are proved once, also with warnings", () => {
  const side = (attempts: number, delay: string): Deployed => {
    const billing = { from: { orders: ["order.placed"] }, retry: constant(attempts, delay), handlerTimeout: "20s" };
    const system = checked(shopWith({ billing, shipping: billing }));
    const proved = compileAndProve(system, sqs);
    if (!proved.ok) throw new Error(JSON.stringify(proved.diagnostics));
    return deployedOf({ ...proved.value, system });
  };
  const [from, to] = [side(3, "1s"), side(5, "1s")];
  let models = 0;
  const counted = brokers.sqs.changesOf(from as never, to as never).map((subject) => ({
    ...subject,
    model: () => {
      models++;
      return subject.model();
    },
  }));
  const [first, second] = verifyChanges(counted);
  expect(models).toBe(1);
  expect(first?.weaker[0]?.trace.length).toBeGreaterThan(1);
  expect(second).toEqual({
    ...first,
    consumer: "shipping",
    weaker: first?.weaker.map((each) => ({ ...each, consumer: "shipping", trace: ["the same steps as for billing"] })),
  });
});

// A deployment that deletes at once what it no longer declares. The proof has to see what is lost.
test.for<readonly [string, Deployed, Deployed, RegExp]>([
  [
    "a tier that goes with its messages",
    deployed(constant(5), rabbitmq("staged")),
    deployed(constant(3), rabbitmq("staged")),
    /waits in shop\.attempt\.\d\.1s for ever/,
  ],
  [
    "a wait queue that goes with its messages",
    deployed(constant(4, "9s"), rabbitmq("waits")),
    deployed(constant(4, "1s"), rabbitmq("waits")),
    /waits in shop\.wait\.9000ms for ever/,
  ],
  [
    "the exchange that a waiting message comes back through",
    deployed(constant(4), rabbitmq("waits")),
    deployed(constant(4), rabbitmq("staged")),
    /for ever|is lost/,
  ],
])("without its leftovers: %s", ([, from, to, wanted]) => {
  const model = (side: Deployed) => {
    const [subject] = subjectsOf(side.compiled as RabbitmqCompiled, side.target as RabbitmqTarget);
    if (subject === undefined) throw new Error("nothing consumes");
    return subject.model();
  };
  const change = joinPhases("billing", [
    { name: "before", models: [model(from)] },
    { name: "after", models: [model(to)] },
  ]);
  expect(verifyChange(change).unsafe.map(({ message }) => message)).toContainEqual(expect.stringMatching(wanted));
});
