import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createManagement, credentialsOf } from "../support/management.ts";

// A request that declares a quorum queue ends before its answer, as if its client was killed. The broker then has the
// queue in its lists, and never starts it. A second declaration changes nothing, and a deletion mends it.

const requests = 30;

test.concurrent.for(inject("brokers"))(
  "on RabbitMQ $fullVersion a declaration that is cut off leaves a queue without a process",
  { timeout: 600_000 },
  // The global one knows no test as soon as another of the concurrent tests has ended.
  async (broker, { expect }) => {
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
    const listed = async (): Promise<readonly Record<string, unknown>[]> => management.get(below);
    const unreported = async (): Promise<readonly string[]> =>
      (await listed()).flatMap(({ name, messages }) => (messages === undefined ? [String(name)] : []));
    let dead: string | undefined;
    // The moment depends on the speed of the machine, so it may take more than one round to hit it.
    for (let round = 0; dead === undefined; round++) {
      if (round === 10) throw new Error(`each of ${round * requests} queues has a process`);
      for (let index = 0; index < requests; index++) await declareFor(`queue-${round}-${index}`, index + 1);
      // The statistics come every five seconds.
      await sleep(20_000);
      const quiet = await unreported();
      for (const queue of quiet) await management.put(`${below}/${queue}`, given);
      await sleep(12_000);
      const still = await unreported();
      dead = quiet.find((queue) => still.includes(queue));
    }
    await management.delete(`${below}/${dead}`);
    await management.put(`${below}/${dead}`, given);
    await expect.poll(async () => isStarted(dead), { timeout: 60_000, interval: 1_000 }).toBe(true);
    for (const { name } of await listed()) await management.delete(`${below}/${String(name)}`);
    await dispose();
  },
);
