import { createClient, type Lab, startLab, waitUntil } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import type { System } from "../../src/index.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { before, cloudCases, removedBy } from "../support/change/cloud-cases.ts";
import { checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { type DrivenConsumer, drive } from "../support/servicebus/drive.ts";
import { type ServicebusTargetInput, compileServicebus, registerServicebus } from "../support/servicebus/register.ts";

// As for SQS: the old consumer must get the waiting messages and those published afterwards. All must end in its
// dead-letter queue.

const target = { broker: "servicebus", sku: "standard" } as const;
const messages = 10;

test.each(cloudCases)("$name", async ({ to, unprotect }) => {
  const old = await inTurn(async () => registerServicebus(before, target));
  const now = to === null ? [] : (await inTurn(async () => registerServicebus(to, target))).resources;
  const { removed, error } = await removedBy(old.resources, now, unprotect);
  if (unprotect) expect(error).toBeNull();
  else expect(error).toMatch(/protected/);
  const gone = new Set(removed.map(({ urn }) => urn));
  const lab = await startLab(onTestFinished);
  await applyToEmulator(
    lab.administration,
    old.resources.filter(({ urn }) => !gone.has(urn)),
  );
  // Then applies the resources that the change makes and updates.
  if (error === null) await applyToEmulator(lab.administration, now);
  const contract = compileServicebus(before, target).contracts.find((each) => each.consumer === "billing");
  if (contract === undefined) throw new Error("billing is gone");
  const [direct, topic] = [lab.client.createSender(contract.workQueue), lab.client.createSender("change.orders")];
  for (let index = 0; index < messages; index++) {
    await direct.sendMessages({ body: `waiting ${index}`, messageId: `waiting ${index}` });
    await topic.sendMessages({ body: `published ${index}`, messageId: `published ${index}`, subject: "order.placed" });
  }
  const consumer = drive({ connect: () => createClient(lab.emulator), contract, decide: () => "transient" });
  const dead = async (): Promise<number> => (await lab.deadLetters(contract.workQueue)).length;
  await consumer.pollUntil(async () => (await dead()) === 2 * messages, 150_000);
  expect(consumer.seen.filter(({ attempt }) => attempt > 2)).toEqual([]);
});

// The changes of a consumer in order, and of the target, that `migrate` has no further steps for.

const shared = { ...target, deadQueue: "shared" } as const;
const common = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};
const inOrder = { ...common, order: "per-key" };
const systemOf = (consumers: object): System =>
  checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers });

/** The resources that the only step of a change leaves on the broker. */
function leftBy(from: System, to: System, before: ServicebusTargetInput, after: ServicebusTargetInput) {
  const [old, wanted] = [readDeployed(from, before), readDeployed(to, after)] as [Deployed, Deployed];
  const planned = planMigration(old, to, wanted.target);
  if (!planned.ok) throw new Error(planned.diagnostics[0]?.message);
  expect(planned.value.steps.map(({ warnings }) => warnings)).toEqual([[]]);
  return planned.value.steps[0]?.left.map(({ name }) => name);
}

async function publish(lab: Lab, word: string, keys = ["A", "B"]): Promise<readonly string[]> {
  const sender = lab.client.createSender("shop.orders");
  const bodies = Array.from({ length: messages }, (_, index) => `${keys[index % 2]} ${word} ${index}`);
  for (const body of bodies)
    await sender.sendMessages({ body, messageId: body, sessionId: body.slice(0, 1), subject: "order.placed" });
  await sender.close();
  return bodies;
}

function driven(lab: Lab, system: System, from: ServicebusTargetInput, decide: Decide): DrivenConsumer {
  const [contract] = compileServicebus(system, from).contracts;
  if (contract === undefined) throw new Error("there is no consumer");
  return drive({ connect: () => createClient(lab.emulator), contract, decide });
}

type Decide = Parameters<typeof drive>[0]["decide"];

test.each([
  { name: "without order", billing: common, work: "shop.billing" },
  { name: "in order", billing: inOrder, work: "shop.orders/Subscriptions/billing" },
])("all dead letters go to a shared queue, and later ones to an own queue again, $name", async ({ billing, work }) => {
  const system = systemOf({ billing });
  expect(leftBy(system, system, target, shared)).toEqual([]);
  expect(leftBy(system, system, shared, target)).toEqual(["shop.dead"]);
  const lab = await startLab(onTestFinished);
  const deploy = async (to: ServicebusTargetInput): Promise<void> => {
    const { resources } = await inTurn(async () => registerServicebus(system, to));
    await applyToEmulator(lab.administration, resources);
  };
  const bodiesIn = async (path: string): Promise<ReadonlySet<unknown>> => {
    const found = (await lab.peek(path)).map(({ body }) => body as unknown);
    expect(new Set(found).size).toBe(found.length);
    return new Set(found);
  };
  const own = `${work}/$DeadLetterQueue`;
  // Each contract works on the topology of the other one.
  const [before, after] = [target, shared].map((from) => driven(lab, system, from, () => "transient"));
  if (before === undefined || after === undefined) throw new Error("there is no consumer");

  await deploy(target);
  const first = await publish(lab, "first");
  await before.pollUntil(async () => (await bodiesIn(own)).size === first.length);
  const waiting = await publish(lab, "waiting");
  await before.poll();
  await deploy(shared);
  await waitUntil(async () => (await bodiesIn("shop.dead")).size === first.length);
  await before.pollUntil(async () => (await bodiesIn("shop.dead")).size === first.length + waiting.length);
  const all = new Set([...first, ...waiting]);
  expect([await bodiesIn("shop.dead"), await bodiesIn(own)]).toEqual([all, new Set()]);

  await deploy(target);
  const later = await publish(lab, "later", ["C", "D"]);
  await after.pollUntil(async () => (await bodiesIn(own)).size === later.length);
  expect([await bodiesIn("shop.dead"), await bodiesIn(own)]).toEqual([all, new Set(later)]);
  const seen = Map.groupBy([...before.seen, ...after.seen], ({ body }) => body);
  expect([...seen.values()].filter(({ length }) => length > 2)).toEqual([]);
});

test("a consumer in order that goes leaves its subscription, and its code handles all messages in order", async () => {
  const [old, now] = [systemOf({ billing: inOrder, mail: common }), systemOf({ mail: common })];
  expect(leftBy(old, now, target, target)).toEqual(["shop.orders/billing"]);
  const [first, second] = [
    (await inTurn(async () => registerServicebus(old, target))).resources,
    (await inTurn(async () => registerServicebus(now, target))).resources,
  ];
  const { removed, error } = await removedBy(first, second, true);
  expect([error, removed.filter(({ type }) => !type.endsWith("MetricAlert"))]).toEqual([null, []]);
  const lab = await startLab(onTestFinished);
  await applyToEmulator(lab.administration, first);
  const published = [...(await publish(lab, "before"))];
  await applyToEmulator(lab.administration, second);
  published.push(...(await publish(lab, "after")));
  const handled: string[] = [];
  const consumer = driven(lab, old, target, ({ body, attempt }) => {
    if (attempt === 1 && body.endsWith("4")) return "transient";
    handled.push(body);
    return "success";
  });
  await consumer.pollUntil(() => handled.length === published.length);
  const ofKey = (bodies: readonly string[], key: string) => bodies.filter((body) => body.startsWith(key));
  for (const key of ["A", "B"]) expect(ofKey(handled, key)).toEqual(ofKey(published, key));
  expect(await lab.peek("shop.orders/Subscriptions/billing")).toEqual([]);
});
