import { setTimeout as sleep } from "node:timers/promises";

import { inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

// RabbitMQ reads the policies for a new queue before it stores the queue. A policy that is set between the two never
// reaches the queue, and nothing repairs that but the next change of a policy.

const queues = Array.from({ length: 40 }, (_, index) => `queue-${index}`);

test.concurrent.for(inject("brokers"))(
  "on RabbitMQ $fullVersion a policy reaches the queues that are declared after it, and every queue when it is set again",
  // The global one knows no test as soon as another of the concurrent tests has ended.
  async (broker, { expect }) => {
    const { vhost, dispose } = await createVhost(broker);
    const management = createManagement(broker.managementUrl);
    const below = `queues/${encodeURIComponent(vhost)}`;
    const declare = async (name: string): Promise<void> => management.put(`${below}/${name}`, { durable: true });
    const set = async (name: string, most: number): Promise<void> =>
      management.putPolicy(vhost, name, {
        pattern: `^${name}$`,
        "apply-to": "queues",
        definition: { "max-length": most },
      });
    const missing = async (): Promise<readonly string[]> => {
      const all = await management.get<readonly Record<string, unknown>[]>(`${below}?columns=name,policy`);
      return all.flatMap(({ name, policy }) => (policy === name ? [] : [String(name)]));
    };
    for (const name of queues) {
      await set(name, 10);
      await declare(name);
    }
    await expect.poll(missing, { timeout: 60_000, interval: 1_000 }).toEqual([]);
    for (const name of queues) {
      await management.delete(`${below}/${name}`);
      await management.delete(`policies/${encodeURIComponent(vhost)}/${name}`);
      await Promise.all([declare(name), sleep(Math.random() * 12).then(async () => set(name, 10))]);
    }
    // The statistics have to show the last of them.
    await sleep(12_000);
    for (const name of await missing()) await set(name, 20);
    await expect.poll(missing, { timeout: 60_000, interval: 1_000 }).toEqual([]);
    await dispose();
  },
);
