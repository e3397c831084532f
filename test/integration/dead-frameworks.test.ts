import rhea from "rhea";
import { describe, expect, test } from "vitest";

import type { LetterFacts } from "../../src/operate/facts.ts";
import type { Group } from "../../src/operate/groups.ts";
import type { RedrivePlan } from "../../src/operate/plan.ts";
import { deadQueue, stage, workQueue } from "../support/dead-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";
import { runCommand } from "../support/run-command.ts";

// Letters as the libraries of others write them, and letters that AMQP 1.0 publishers sent.

/** Spring AMQP: `RepublishMessageRecoverer`. */
const spring = {
  "x-exception-stacktrace": "java.lang.IllegalStateException: no address for order 17\n\tat shop.Billing.handle",
  "x-exception-message": "no address for order 17",
  "x-original-exchange": "orders",
  "x-original-routingKey": "order.placed",
  __TypeId__: "shop.OrderPlaced",
};
/** MassTransit: `ErrorQueueNameFormatter` and `GenerateFaultFilter`, in its queue `_error`. */
const masstransit = {
  "MT-Reason": "fault",
  "MT-Fault-ExceptionType": "System.InvalidOperationException",
  "MT-Fault-Message": "no address for order 17",
  "MT-Fault-Timestamp": "2026-03-01T08:00:00.0000000Z",
  "MT-Fault-StackTrace": "   at Shop.BillingConsumer.Consume",
  "MT-Fault-InputAddress": "rabbitmq://localhost/shop.billing",
  "MT-Fault-MessageType": "Shop.OrderPlaced",
};
/** Celery: protocol 2. The broker dead-letters a task that is rejected. */
const celery = {
  lang: "py",
  task: "shop.tasks.bill",
  id: "c1",
  root_id: "c1",
  parent_id: null,
  retries: 3,
  argsrepr: "(17,)",
};

async function ask<Answer>(broker: Broker, { url }: DeployedSystem, command: string): Promise<Answer> {
  const place = [`--queue=${deadQueue}`, `--url=${url}`, `--management-url=${broker.managementUrl}`];
  const said = await runCommand(["dead", command, "--json", ...place]);
  expect(said.code, said.out).toBe(0);
  return JSON.parse(said.out) as Answer;
}

describe.for(brokers())("on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("letters of other libraries are described and grouped", async () => {
    const system = await stage(broker);
    const { channel } = system;
    channel.sendToQueue(deadQueue, Buffer.from("{}"), { messageId: "s1", headers: spring });
    channel.sendToQueue(deadQueue, Buffer.from("{}"), { messageId: "t1", headers: masstransit });
    const rejected = async (options: object): Promise<void> => {
      channel.sendToQueue(workQueue, Buffer.from("{}"), options);
      await channel.waitForConfirms();
      await until(30_000, async () => {
        const message = await channel.get(workQueue);
        if (message !== false) channel.nack(message, false, false);
        return message !== false;
      });
    };
    await rejected({ messageId: "c1", correlationId: "c1", headers: celery });
    await rejected({ messageId: "p1" });
    await until(60_000, async () => (await channel.checkQueue(deadQueue)).messageCount === 4);
    const { letters } = await ask<{ readonly letters: readonly LetterFacts[] }>(broker, system, "list");
    const of = (id: string): LetterFacts | undefined => letters.find(({ messageId }) => messageId === id);
    expect(of("s1")).toMatchObject({ error: "no address for order 17", type: "shop.OrderPlaced", queue: null });
    expect(of("t1")).toMatchObject({
      error: "no address for order 17",
      type: "Shop.OrderPlaced",
      diedAt: masstransit["MT-Fault-Timestamp"],
    });
    const died = { queue: workQueue, diedAt: expect.any(String) as string };
    expect(of("c1")).toMatchObject({ ...died, type: "shop.tasks.bill", correlationId: "c1" });
    expect(of("p1")).toMatchObject({ ...died, error: null, type: null, reason: of("c1")?.reason });
    const { groups } = await ask<{ readonly groups: readonly Group[] }>(broker, system, "groups");
    expect(groups.map(({ error, type }) => [error, type]).toSorted()).toEqual([
      [null, null],
      [null, "shop.tasks.bill"],
      ["no address for order #", "Shop.OrderPlaced"],
      ["no address for order #", "shop.OrderPlaced"],
    ]);
    // Those that name no queue stay, because nobody knows where they belong.
    expect(await ask<RedrivePlan>(broker, system, "plan")).toMatchObject({
      letters: 2,
      targets: [{ queue: workQueue, letters: 2 }],
      stay: { "from another queue": 2 },
      forecast: "no declaration names the queue",
    });
  });
});

/** On 3.10 AMQP 1.0 is a plugin. */
const speakAmqp10 = brokers().filter(({ version }) => version.startsWith("4"));

describe.for(speakAmqp10)("on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("letters of AMQP 1.0 stay by name, if they can be told", async () => {
    const system = await stage(broker);
    const { data_section: data } = rhea.message;
    const body = data(Buffer.from("x"));
    const told = [
      { message_id: "value", body: "text" },
      { message_id: "sequence", body: rhea.message.sequence_section([1, 2]) },
      { message_id: "annotated", message_annotations: { "x-opt-tenant": "acme" }, body },
    ];
    // Over AMQP 0-9-1 these look like any other letter, without their subject, `to` and sequence.
    const untold = [
      { message_id: "data", subject: "s", to: "/queues/other", group_id: "g", group_sequence: 3, body },
      { message_id: "properties", application_properties: { tenant: "acme" }, body },
    ];
    await sendByAmqp10(system.url, [...told, ...untold]);
    const plan = await ask<RedrivePlan>(broker, system, "plan");
    expect(plan.stay).toMatchObject({ "by AMQP 1.0": told.length, "from another queue": untold.length });
  });
});

async function sendByAmqp10(address: string, messages: readonly object[]): Promise<void> {
  const url = new URL(address);
  const connection = rhea.create_container().connect({
    host: url.hostname,
    port: Number(url.port),
    hostname: `vhost:${decodeURIComponent(url.pathname.slice(1))}`,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    reconnect: false,
  } as Parameters<typeof rhea.connect>[0]);
  const sender = connection.open_sender({ target: { address: `/queues/${deadQueue}` } } as object);
  await new Promise<void>((resolve) => sender.once("sendable", () => resolve()));
  for (const message of messages) {
    const accepted = new Promise<void>((resolve) => sender.once("accepted", () => resolve()));
    sender.send({ durable: true, ...message } as rhea.Message);
    await accepted;
  }
  connection.close();
}
