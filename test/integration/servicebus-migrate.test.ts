import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ServiceBusReceivedMessage } from "@azure/service-bus";
import { startLab, waitUntil } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import { countMessages } from "../../src/brokers/servicebus/run/count-messages.ts";
import { consume } from "../../src/consume/consume.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { goingIn, readLock } from "../../src/migrate/lock.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { checkTarget } from "../../src/brokers/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { type Said, runSeparately } from "../support/run-command.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { type ServicebusTargetInput, registerServicebus } from "../support/servicebus/register.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Two consumers get other queues on the emulator, one of them with sessions, and a third one goes. A deployment makes
// each step. `migrate --next` names the changes that are left, then the messages in the old queues. It moves on when
// they are gone.

const common = { retry: { attempts: 3, backoff: { kind: "immediate" } }, handlerTimeout: "20s" } as const;
const billing = {
  ...common,
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
};
const keyed = { ...common, order: "per-key" };
const mail = { ...common, from: { orders: ["order.placed"] } };
const topic = { kind: "topic" };
const system = (consumers: object) => ({ name: "shop", sources: { orders: topic }, consumers });
const standard = { broker: "servicebus", sku: "standard" } as const;
const order = { body: "an order", subject: "order.placed" };
const laterMs = 3_600_000;
type Received = ServiceBusReceivedMessage;

test("--next follows the steps of a migration, with messages in every place", { timeout: 900_000 }, async () => {
  const lab = await startLab(onTestFinished);
  const deployed = system({ billing, keyed, mail });
  const deploy = async (declared: object, target: ServicebusTargetInput): Promise<void> => {
    const { resources } = await inTurn(async () => registerServicebus(checked(declared), target));
    await applyToEmulator(lab.administration, resources);
  };
  await deploy(deployed, standard);
  const folder = temporaryFolder("servicebus-migrate", onTestFinished);
  const [shop, project, lock] = ["shop.json", "redeliver.config.yaml", "redeliver.lock.json"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const connection = lab.emulator.managementConnectionString;
  const host = /Endpoint=sb:\/\/([^/;]*)/.exec(connection)?.[1] ?? "";
  const environment = `{ target: "servicebus@standard", managementUrl: "servicebus:${host}" }`;
  writeFileSync(project, `declaration: shop.json\nenvironments: { prod: ${environment} }\n`);
  const redeliver = async (words: readonly string[], SERVICEBUS_CONNECTION_STRING = connection): Promise<Said> =>
    runSeparately([...words, "--project", project], { SERVICEBUS_CONNECTION_STRING });
  const next = async (...words: readonly string[]) => {
    const { code, out, error } = await redeliver(["migrate", "--next", "--json", ...words]);
    return { code, error, ...(JSON.parse(out || "{}") as { state?: string; inTheWay?: readonly string[] }) };
  };
  const going = () => {
    const read = readLock(readFileSync(lock, "utf8"));
    const found = read.ok ? goingIn(read.value, "prod") : read;
    if (!found.ok || found.value === null) throw new Error("there is no migration");
    const step = found.value.steps[found.value.phase];
    return { phase: found.value.phase, system: step?.system as object, target: step?.target as ServicebusTargetInput };
  };
  const wrong = connection.replace(/SharedAccessKey=[^;]*/, "SharedAccessKey=wrong");
  const unheard = connection.replace(host, "127.0.0.1:1");
  const cannotRead = async (code: string, text: string, ...words: readonly string[]): Promise<void> => {
    const before = readFileSync(lock, "utf8");
    const said = await redeliver(["migrate", "--next", ...words], text);
    expect([said.code, said.error]).toEqual([2, expect.stringContaining(code)]);
    expect(readFileSync(lock, "utf8")).toBe(before);
  };
  const [topic, old] = [lab.client.createSender("shop.orders"), lab.client.createSender("shop.billing")];

  writeFileSync(shop, JSON.stringify(deployed));
  expect(await redeliver(["lock"])).toMatchObject({ code: 0 });
  writeFileSync(
    shop,
    JSON.stringify(
      system({ billing: { ...billing, queue: "shop.invoices" }, keyed: { ...keyed, queue: "shop.keys" } }),
    ),
  );
  await cannotRead("RD408", "");
  await cannotRead("RD408", wrong);
  await cannotRead("RD407", unheard);
  await cannotRead("RD407", unheard, "--url", "servicebus:127.0.0.1:1");
  expect((await redeliver(["migrate", "--apply"])).error).toContain("--apply does not work on Azure Service Bus");
  expect(await next()).toMatchObject({ code: 3, state: "deploy" });
  await topic.sendMessages({ ...order, messageId: "before" });
  await lab.client.createSender("shop.keyed").sendMessages({ ...order, sessionId: "A" });
  await deploy(going().system, going().target);

  // Azure deletes a subscription with its messages, so nothing asks for that.
  const closing = "leave only the rule $Default, with the filter 1=0, in the subscription shop.orders/mail";
  expect(await next()).toMatchObject({ code: 3, state: "deploy", inTheWay: [closing] });
  await lab.administration.deleteRule("shop.orders", "mail", "order.placed");
  await topic.sendMessages({ ...order, messageId: "after" });
  expect((await lab.peek("shop.invoices")).map(({ messageId }) => messageId)).toEqual(["after"]);

  const due = new Date(Date.now() + laterMs);
  for (const messageId of ["deferred", "dead"]) await old.sendMessages({ ...order, messageId });
  const scheduled = await old.scheduleMessages({ ...order, messageId: "scheduled" }, due);
  const receiver = lab.receiver("shop.billing");
  const [before, deferred, dead] = (await lab.receive(receiver, 3)) as [Received, Received, Received];
  await receiver.deferMessage(deferred);
  await receiver.deadLetterMessage(dead);
  const inTheWay = (billings: string) => [
    ...(billings === "" ? [] : [billings]),
    "1 message in shop.keyed (1 active)",
    "1 message in shop.mail (1 active)",
  ];
  // Producers send to the queue of the consumer in order itself.
  expect((await next()).inTheWay).toEqual(["programs may still publish to shop.keyed"]);
  const moved = "--publishers-moved";
  expect(await next(moved)).toMatchObject({
    code: 3,
    state: "wait",
    inTheWay: inTheWay("3 messages in shop.billing (2 active, 1 scheduled)"),
  });
  await receiver.completeMessage(before);
  expect((await next(moved)).inTheWay).toEqual(inTheWay("2 messages in shop.billing (1 active, 1 scheduled)"));
  await cannotRead("RD408", wrong);
  const numbers = deferred.sequenceNumber as NonNullable<Received["sequenceNumber"]>;
  const [again] = (await receiver.receiveDeferredMessages(numbers)) as [Received];
  await receiver.completeMessage(again);
  expect((await next(moved)).inTheWay).toEqual(inTheWay("1 message in shop.billing (1 scheduled)"));
  await old.cancelScheduledMessages(scheduled);
  expect((await next(moved)).inTheWay).toEqual(inTheWay(""));
  const session = await lab.client.acceptSession("shop.keyed", "A");
  const [inSession] = (await lab.receive(session)) as [Received];
  expect((await next(moved)).inTheWay).toEqual(inTheWay(""));
  await session.completeMessage(inSession);
  await session.close();
  expect((await next(moved)).inTheWay).toEqual(inTheWay("").slice(1));
  const mails = lab.receiver("shop.mail");
  const [mailed] = (await lab.receive(mails)) as [Received];
  expect(mailed.messageId).toBe("before");
  await mails.completeMessage(mailed);

  const startedMs = performance.now();
  expect(await next(moved, "--wait", "3m")).toMatchObject({ code: 0, state: "deploy" });
  expect(performance.now() - startedMs).toBeGreaterThan(60_000);
  expect(going().phase).toBe(1);
  await deploy(going().system, going().target);
  expect(await next()).toMatchObject({ code: 0, state: "done" });
  expect((await redeliver(["check"])).out).toContain("none: this is deployed");
  expect((await lab.deadLetters("shop.billing")).map(({ messageId }) => messageId)).toEqual(["dead"]);
  expect((await lab.peek("shop.invoices")).map(({ messageId }) => messageId)).toEqual(["after"]);
});

// Messages of two sessions wait in the old place, where some need a retry, and later ones in the new place. The new code
// of a consumer that stays in order starts behind the gate.

const inOrder = { from: { orders: "all" }, order: "per-key" };
const changes = [
  {
    name: "to another queue that producers send to",
    before: { order: "per-key" },
    after: { order: "per-key", queue: "shop.invoices" },
    places: ["shop.billing", "shop.invoices"],
    old: "shop.billing",
    isHeld: true,
  },
  {
    name: "to the subscription of a renamed source",
    before: inOrder,
    after: inOrder,
    more: { names: { source: "events-{source}" } },
    places: ["shop.orders", "events-orders"],
    old: "shop.orders/Subscriptions/billing",
    isHeld: true,
  },
  {
    name: "to no order",
    before: inOrder,
    after: { from: { orders: "all" } },
    places: ["shop.orders", "shop.orders.2"],
    old: "shop.orders/Subscriptions/billing",
    isHeld: false,
  },
  {
    name: "to a second source, which ends the order",
    before: inOrder,
    after: { from: { orders: "all", sales: "all" } },
    more: { sources: { orders: topic, sales: topic } },
    places: ["shop.orders", "shop.sales"],
    old: "shop.orders/Subscriptions/billing",
    isHeld: false,
  },
  {
    name: "to an order",
    before: { from: { orders: "all" } },
    after: inOrder,
    places: ["shop.orders", "shop.orders.2"],
    old: "shop.billing",
    isHeld: false,
  },
  {
    name: "to a queue that detects duplicates",
    before: { from: { orders: "all" } },
    after: { from: { orders: "all" } },
    target: { duplicates: { billing: "5m" } },
    places: ["shop.orders", "shop.orders"],
    old: "shop.billing",
    isHeld: false,
  },
] as const;

test.each(changes)("a migration $name keeps every message, and the declared order", async (change) => {
  const { before, after, places, old, isHeld } = change;
  const lab = await startLab(onTestFinished);
  const declaredOf = (own: object, more: object = {}) =>
    checked({ ...system({ billing: { ...common, ...own } }), ...more });
  const from = readDeployed(declaredOf(before), standard) as Deployed;
  const wanted = declaredOf(after, "more" in change ? change.more : {});
  const target = accepted(checkTarget<"servicebus">({ ...standard, ...("target" in change ? change.target : {}) }));
  const planned = planMigration(from, wanted, target);
  if (!planned.ok) throw new Error(planned.diagnostics[0]?.message);
  const { steps, held } = planned.value;
  expect([steps.length, held.length > 0]).toEqual([2, isHeld]);
  const [beside, last] = steps as unknown as readonly [Step, Step];
  const deploy = async ({ system: declared, target }: Step): Promise<void> => {
    const { resources } = await inTurn(async () => registerServicebus(declared, target));
    await applyToEmulator(lab.administration, resources);
  };
  const { connectionString, managementConnectionString } = lab.emulator;
  const handled: string[] = [];
  const run = async (step: Step, consumer: string) => {
    const connection = { connectionString, managementConnectionString };
    const options = { target: step.target, connection, body: "text" } as const;
    const running = await consume<"servicebus", string>(step.system, consumer, options, ({ body }, { number }) => {
      if (number === 1 && Number(body.slice(1)) % 10 < 2) throw new Error("no");
      handled.push(body);
    });
    onTestFinished(async () => running.stop("0ms"));
    return running;
  };
  const published: string[] = [];
  const publish = async (place: string): Promise<void> => {
    const sender = lab.client.createSender(place);
    for (let count = 0; count < 12; count++) {
      const sessionId = published.length % 2 === 0 ? "A" : "B";
      const body = `${sessionId}${published.length}`;
      published.push(body);
      await sender.sendMessages({ body: Buffer.from(body), messageId: body, sessionId, subject: "order.placed" });
    }
    await sender.close();
  };
  const isEmpty = async (path: string): Promise<boolean> => (await lab.peek(path)).length === 0;

  await deploy({ system: from.system, target: standard });
  await publish(places[0]);
  const first = await run({ system: from.system, target: standard }, "billing");
  await waitUntil(() => handled.length > 0);
  await first.stop();
  await publish(places[0]);
  await deploy(beside);
  await publish(places[0]);
  await publish(places[1]);
  expect(await isEmpty(old)).toBe(false);
  const early = isHeld ? null : await run(beside, "billing");
  const drains = await run(beside, "billing-before");
  await waitUntil(() => isEmpty(old));
  await drains.stop();
  expect(handled.includes(published.at(-1) ?? "") && isHeld).toBe(false);
  await deploy(last);
  await publish(places[1]);
  await (early ?? (await run(last, "billing")));
  await waitUntil(() => published.every((body) => handled.includes(body)));
  const own = (bodies: readonly string[], key: string): readonly string[] =>
    [...new Set(bodies)].filter((body) => body.startsWith(key));
  const detects = async (queue: string) => (await lab.administration.getQueue(queue)).requiresDuplicateDetection;
  if ("target" in change)
    expect([await detects("shop.billing"), await detects("shop.billing.2")]).toEqual([false, true]);
  if (isHeld) for (const key of ["A", "B"]) expect(own(handled, key)).toEqual(own(published, key));
  expect(new Set(handled)).toEqual(new Set(published));
});

interface Step {
  readonly system: ReturnType<typeof checked>;
  readonly target: ServicebusTargetInput;
}

test("a dead letter that its tier has not yet forwarded counts for its next queue", async () => {
  const lab = await startLab(onTestFinished);
  const [work, tier] = ["shop.billing", "shop.billing.wait.1s"];
  await lab.queue(work, { status: "Disabled" });
  const expiring = { defaultMessageTimeToLive: "PT1S", deadLetteringOnMessageExpiration: true };
  await lab.queue(tier, { ...expiring, forwardDeadLetteredMessagesTo: work });
  await lab.client.createSender(tier).sendMessages({ body: "a retry" });
  await expect.poll(async () => (await lab.deadLetters(tier)).length, { timeout: 20_000 }).toBe(1);
  const counted = await countMessages(lab.administration, AbortSignal.timeout(10_000));
  const none = { active: 0, scheduled: 0, "in transfer": 0, "not yet forwarded": 0 };
  expect(counted.map(({ name, messages }) => [name, messages])).toEqual([
    [work, { ...none, "not yet forwarded": 1 }],
    [tier, none],
  ]);
});
