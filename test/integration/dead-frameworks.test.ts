import { describe, expect, test } from "vitest";

import type { LetterFacts } from "../../src/operate/facts.ts";
import type { Group } from "../../src/operate/groups.ts";
import { ask, askDeclared } from "../support/dead-command.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, stage, workQueue } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

// Letters as the libraries of others write them.

ownJournal();

interface Written {
  readonly id: string;
  /** The headers and properties that its consumer reads. */
  readonly needed: Readonly<Record<string, unknown>>;
  readonly properties?: Readonly<Record<string, string>>;
  /** The records of its death and of its attempts. */
  readonly died: Readonly<Record<string, unknown>>;
  /** As its consumer has to see them for new attempts. */
  readonly anew?: Readonly<Record<string, unknown>>;
  /** True if its consumer rejects it, and the broker dead-letters it. */
  readonly isRejected: boolean;
}

/** Spring AMQP: `RepublishMessageRecoverer`. */
const spring: Written = {
  id: "s1",
  needed: { __TypeId__: "shop.OrderPlaced", __ContentTypeId__: "java.lang.Object" },
  properties: { contentType: "application/json", contentEncoding: "UTF-8" },
  died: {
    "x-exception-stacktrace": "java.lang.IllegalStateException: no address for order 17\n\tat shop.Billing.handle",
    "x-exception-message": "no address for order 17",
    "x-original-exchange": "orders",
    "x-original-routingKey": "order.placed",
    // Its retries waited in another queue. The copy has the headers of the message.
    "x-death": [{ queue: "orders.wait", reason: "expired", count: 2, exchange: "", "routing-keys": ["order.placed"] }],
  },
  isRejected: false,
};
/** MassTransit: `ErrorQueueNameFormatter` and `GenerateFaultFilter`, in its queue `_error`. */
const masstransit: Written = {
  id: "t1",
  needed: { "Content-Type": "application/vnd.masstransit+json", "MT-Activity-Id": "00-1-2-00", tenant: "acme" },
  properties: { contentType: "application/vnd.masstransit+json", type: "" },
  died: {
    "MT-Reason": "fault",
    "MT-Fault-ExceptionType": "System.InvalidOperationException",
    "MT-Fault-Message": "no address for order 18",
    "MT-Fault-Timestamp": "2026-03-01T08:00:00.0000000Z",
    "MT-Fault-MessageType": "Shop.OrderPlaced",
    "MT-Fault-RetryCount": 3,
    "MT-Redelivery-Count": 2,
  },
  isRejected: false,
};
/** Celery: protocol 2. The broker dead-letters a task that is rejected. */
const celery: Written = {
  id: "c1",
  needed: { lang: "py", task: "shop.tasks.bill", id: "c1", root_id: "c1", parent_id: null, argsrepr: "(17,)" },
  properties: { correlationId: "c1", contentType: "application/json", contentEncoding: "utf-8" },
  // Its worker counts by the one, and drops a task after the other.
  died: { retries: 3, expires: "2026-03-01T08:00:00+00:00" },
  anew: { retries: 0, expires: null },
  isRejected: true,
};
const pika: Written = { id: "p1", needed: { tenant: "acme" }, died: {}, isRejected: true };
const all = [spring, masstransit, celery, pika];

describe.for(brokers())("on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("letters of other libraries are described, grouped, and sent again as their consumers need them", async () => {
    const system = await stage(broker);
    const { channel } = system;
    const body = Buffer.from("{}");
    for (const { id, needed, properties, died, isRejected } of all) {
      const options = { ...properties, messageId: id, persistent: true, headers: { ...needed, ...died } };
      channel.sendToQueue(isRejected ? workQueue : deadQueue, body, options);
      await channel.waitForConfirms();
      if (!isRejected) continue;
      await until(30_000, async () => {
        const message = await channel.get(workQueue);
        if (message !== false) channel.nack(message, false, false);
        return message !== false;
      });
    }
    await until(60_000, async () => (await system.count(deadQueue)) === all.length);
    const { letters } = await ask<{ readonly letters: readonly LetterFacts[] }>(system, "list");
    const of = (id: string): LetterFacts | undefined => letters.find(({ messageId }) => messageId === id);
    expect(of("s1")).toMatchObject({ error: "no address for order 17", type: "shop.OrderPlaced", queue: null });
    expect(of("t1")).toMatchObject({
      error: "no address for order 18",
      type: "Shop.OrderPlaced",
      diedAt: masstransit.died["MT-Fault-Timestamp"],
    });
    const died = { queue: workQueue, diedAt: expect.any(String) as string };
    expect(of("c1")).toMatchObject({ ...died, type: "shop.tasks.bill", correlationId: "c1" });
    expect(of("p1")).toMatchObject({ ...died, error: null, type: null, reason: of("c1")?.reason });
    const { groups } = await ask<{ readonly groups: readonly Group[] }>(system, "groups");
    expect(groups.map(({ error, type }) => [error, type]).toSorted()).toEqual([
      [null, null],
      [null, "shop.tasks.bill"],
      ["no address for order #", "Shop.OrderPlaced"],
      ["no address for order #", "shop.OrderPlaced"],
    ]);
    // Without a declaration, nobody knows where those belong that name no queue.
    expect(await ask(system, "plan")).toMatchObject({
      code: 0,
      letters: 2,
      targets: [{ queue: workQueue, letters: 2 }],
      stay: { "from another queue": 2 },
    });

    const redriven = await askDeclared(system, "redrive", "--wait=0s", "--confirm=4");
    expect(redriven).toMatchObject({ code: 0, sent: 4, stopped: null });
    const copies = await system.drain(workQueue);
    for (const { id, needed, properties = {}, anew = {} } of all) {
      const copy = copies.find(({ properties: { messageId } }) => messageId === id);
      // Up to 3.11 the broker writes a count of 0 by itself.
      const {
        "redeliver-history": history,
        "x-delivery-count": count = 0,
        ...headers
      } = copy?.properties.headers ?? {};
      expect([id, count, headers]).toEqual([id, 0, { ...needed, ...anew }]);
      expect(history).toEqual(expect.stringContaining('"generation":1'));
      expect(copy?.properties).toMatchObject(properties);
    }
  });

  test("an edited letter keeps the value that a person gave it", async () => {
    const { channel, letters, drain } = await stage(broker);
    const { needed, died } = celery;
    channel.sendToQueue(deadQueue, Buffer.from("{}"), { persistent: true, headers: { ...needed, ...died } });
    await channel.waitForConfirms();
    const expires = "2046-03-01T08:00:00+00:00";
    await letters.move(deadQueue, {
      most: 1,
      perSecond: null,
      decide: (letter) => {
        const edited = { ...letter, headers: { ...letter.headers, expires } };
        return { queue: workQueue, history: "h", edited };
      },
    });
    const [copy] = await drain(workQueue);
    expect(copy?.properties.headers).toMatchObject({ expires, retries: 0 });
  });
});
