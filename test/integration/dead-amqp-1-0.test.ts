import type { GetMessage } from "amqplib";
import rhea from "rhea";
import { describe, expect, test } from "vitest";

import type { RedrivePlan } from "../../src/operate/plan.ts";
import { ask, askDeclared, byDeclaration } from "../support/dead-command.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, shop, stage, workQueue } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { connectByAmqp10 } from "../support/connect-amqp-1-0.ts";

// Letters that AMQP 1.0 publishers sent, with every section.

ownJournal();

/** On 3.10 AMQP 1.0 is a plugin. */
const speakAmqp10 = brokers().filter(({ version }) => version.startsWith("4"));

const { types, message: sections } = rhea;
const data = sections.data_section(Buffer.from('{"id":17}'));

/** Every section but the message annotations. */
const every = {
  // Header.
  durable: true,
  priority: 7,
  ttl: 3_600_000,
  first_acquirer: true,
  delivery_annotations: { "x-opt-hop": "gateway" },
  // Properties.
  message_id: "m1",
  user_id: "guest",
  to: "/queues/other",
  subject: "an order",
  reply_to: "/queues/answers",
  correlation_id: "c1",
  content_type: "application/json",
  content_encoding: "utf-8",
  absolute_expiry_time: Date.parse("2036-01-01T00:00:00Z"),
  creation_time: Date.parse("2026-03-01T08:00:00Z"),
  group_id: "g",
  group_sequence: 3,
  reply_to_group_id: "h",
  application_properties: {
    tenant: "acme",
    paid: true,
    nothing: null,
    float: types.wrap_float(0.5),
    double: types.wrap_double(0.1),
    byte: types.wrap_byte(-3),
    ubyte: types.wrap_ubyte(200),
    int: types.wrap_int(-70_000),
    uint: types.wrap_uint(4_000_000_000),
    long: types.wrap_long(-5_000_000_000),
    at: types.wrap_timestamp(Date.parse("2026-03-01T08:00:00Z")),
    bytes: types.wrap_binary(Buffer.from([1, 2])),
    symbol: types.wrap_symbol("north"),
  },
};
/** rhea writes it in front of the body, and the broker refuses that: a described map with one entry, by hand. */
const footer = Buffer.concat([
  Buffer.from([0x00, 0x53, 0x78, 0xc1, 23, 2, 0xa3, 14]),
  Buffer.from("x-opt-checksum"),
  Buffer.from([0xa1, 4]),
  Buffer.from("1a2b"),
]);

/** By the name of the difference between two bodies or ids. */
const untold: Readonly<Record<string, object>> = {
  "one data section": { ...every, body: data },
  "an empty data section": { ...every, body: sections.data_section(Buffer.alloc(0)) },
  "two data sections": { ...every, body: sections.data_sections([Buffer.from("one"), Buffer.from([0, 255])]) },
  "a UUID as its id": { ...every, message_id: types.wrap_uuid(Buffer.alloc(16, 7)), body: data },
  "a number as its id": {
    ...every,
    message_id: types.wrap_ulong(17),
    correlation_id: types.wrap_ulong(18),
    body: data,
  },
  "bytes as its id": { ...every, message_id: types.wrap_binary(Buffer.from([1, 2])), body: data },
  "no more than a body": { body: data },
};
const told: Readonly<Record<string, object>> = {
  "a value": { ...every, body: "text" },
  "a sequence": { ...every, body: sections.sequence_section([1, 2]) },
  "a message annotation": { ...every, message_annotations: { "x-opt-tenant": "acme" }, body: data },
};

/**
 * The message as a consumer by AMQP 0-9-1 sees it, without the marks of a redrive. A copy has no expiration, and its user
 * is another one.
 */
function seen(got: GetMessage | undefined): object {
  const { properties, content } = got as GetMessage;
  const { "redeliver-history": _, ...headers } = properties.headers ?? {};
  const { expiration: __, userId: ___, ...others } = properties;
  return { ...others, headers, content: content.toString("latin1") };
}

describe.for(speakAmqp10)("on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("letters of AMQP 1.0 stay by name, if they can be told", async () => {
    const system = await stage(broker);
    const bytes = { application_properties: { bytes: types.wrap_binary(Buffer.from([255])) }, body: data };
    await sendByAmqp10(system.url, deadQueue, [...Object.values(told), bytes]);
    const plan = await askDeclared<RedrivePlan>(system, "plan");
    expect([plan.letters, plan.stay]).toEqual([0, { "by AMQP 1.0": Object.keys(told).length, "not whole": 1 }]);
    const redrive = byDeclaration(system, "redrive", "--wait=0s", "--confirm=4");
    expect((await runCommand(redrive)).code).toBe(1);
    expect(await system.count(deadQueue)).toBe(4);
  });

  test("a consumer by AMQP 0-9-1 sees the same again in the others", async () => {
    const system = await stage(broker);
    const { channel } = system;
    const count = Object.keys(untold).length;
    const arrived = async (queue: string): Promise<void> =>
      until(60_000, async () => (await system.count(queue)) === count);
    await sendByAmqp10(system.url, workQueue, Object.values(untold));
    await arrived(workQueue);
    const originals: GetMessage[] = [];
    for (let got = await channel.get(workQueue); got !== false; got = await channel.get(workQueue)) originals.push(got);
    for (const original of originals) channel.nack(original, false, false);
    await arrived(deadQueue);
    const redrive = byDeclaration(system, "redrive", "--wait=0s", `--confirm=${count}`);
    expect(await answerOf(runCommand(redrive))).toMatchObject({ code: 0, sent: count });
    await arrived(workQueue);
    const copies = await system.drain(workQueue);
    for (const [index, name] of Object.keys(untold).entries())
      expect([name, seen(copies[index])]).toEqual([name, seen(originals[index])]);
    expect(originals[0]?.properties).toMatchObject({ expiration: "3600000", userId: "guest" });
    for (const { properties } of copies)
      expect([properties.expiration, properties.userId]).toEqual([undefined, undefined]);
  });
});

test.for(brokers().filter(({ version }) => version === "4.3"))(
  "nothing is sent to a consumer that speaks AMQP 1.0 on RabbitMQ $version",
  async (broker) => {
    const billing = { ...shop.consumers.billing, protocol: "amqp-1.0" };
    const declaration = { ...shop, consumers: { billing } };
    const system = await stage(broker, declaration, "deferred");
    await sendByAmqp10(system.url, deadQueue, [untold["one data section"] ?? {}]);
    for (const [command, ...words] of [["plan"], ["redrive"], ["redrive", "--confirm=1"]]) {
      const usage = expect.stringContaining("this consumer speaks AMQP 1.0") as string;
      expect(await askDeclared(system, command ?? "", ...words)).toMatchObject({ code: 2, usage });
    }
    expect((await ask(system, "list")).code).toBe(0);
    expect(await system.count(deadQueue)).toBe(1);
  },
);

async function sendByAmqp10(address: string, queue: string, messages: readonly object[]): Promise<void> {
  const connection = connectByAmqp10(address);
  const sender = connection.open_sender({ target: { address: `/queues/${queue}` } } as object);
  const failed = new Promise<never>((_, reject) => {
    for (const event of ["connection_error", "session_error", "sender_error", "disconnected", "error"])
      connection.once(event, () =>
        reject(new Error(`${event}: ${JSON.stringify(sender.error ?? connection.error ?? null)}`)),
      );
  });
  failed.catch(() => undefined);
  await Promise.race([failed, new Promise<void>((resolve) => sender.once("sendable", () => resolve()))]);
  for (const message of messages) {
    const outcome = new Promise<void>((resolve, reject) => {
      sender.once("accepted", () => resolve());
      for (const refusal of ["rejected", "released", "modified"])
        sender.once(refusal, () => reject(new Error(`the broker answers ${refusal}`)));
    });
    const encoded = sections.encode({ durable: true, ...message } as rhea.Message);
    sender.send(Buffer.concat([encoded, footer]), undefined, 0);
    await Promise.race([failed, outcome]);
  }
  connection.close();
}
