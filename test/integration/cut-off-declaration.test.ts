import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createManagement, credentialsOf } from "../support/management.ts";

// A request that declares a quorum queue ends before its answer, as if its client was killed. The broker then has the
// queue in its lists, and never starts it. A second declaration changes nothing, and a deletion mends it.

const requests = 30;

test.concurrent.each(inject("brokers"))(
  "on RabbitMQ $fullVersion a declaration that is cut off leaves a queue without a process",
  { timeout: 600_000 },
  async (broker) => {
    const { vhost, dispose } = await createVhost(broker);
    const management = createManagement(broker.managementUrl);
    const { hostname, port } = new URL(broker.managementUrl);
    const { user, password } = credentialsOf(broker.managementUrl);
    const given = { durable: true, arguments: { "x-queue-type": "quorum" } };
    const below = `queues/${encodeURIComponent(vhost)}`;
    const declareFor = async (queue: string, afterMs: number): Promise<void> =>
      new Promise((done) => {
        const body = JSON.stringify(given);
        const socket = connect(Number(port), hostname, () => {
          const credentials = Buffer.from(`${user}:${password}`).toString("base64");
          const headers = [
            `PUT /api/${below}/${queue} HTTP/1.1`,
            "Host: broker",
            `Authorization: Basic ${credentials}`,
            "Content-Type: application/json",
            `Content-Length: ${body.length}`,
          ];
          socket.write(`${headers.join("\r\n")}\r\n\r\n${body}`);
          setTimeout(() => socket.destroy(), afterMs);
        });
        socket.resume();
        socket.on("error", () => undefined);
        socket.on("close", () => done());
      });
    const isStarted = async (queue: string): Promise<boolean> =>
      (await management.get<Record<string, unknown>>(`${below}/${queue}`))["messages"] !== undefined;
    for (let index = 0; index < requests; index++) await declareFor(`queue-${index}`, index + 1);
    await sleep(20_000);
    const queues = await management.get<readonly Record<string, unknown>[]>(below);
    const [dead] = queues.flatMap(({ name, messages }) => (messages === undefined ? [String(name)] : []));
    if (dead === undefined) throw new Error(`each of ${queues.length} queues has a process`);
    await management.put(`${below}/${dead}`, given);
    await sleep(12_000);
    expect(await isStarted(dead)).toBe(false);
    await management.delete(`${below}/${dead}`);
    await management.put(`${below}/${dead}`, given);
    await expect.poll(async () => isStarted(dead), { timeout: 60_000, interval: 1_000 }).toBe(true);
    for (const { name } of queues) await management.delete(`${below}/${String(name)}`);
    await dispose();
  },
);
