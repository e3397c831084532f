import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { inject } from "vitest";
import { docker } from "./broker-images.ts";
import { createManagement, credentialsOf, type Management, ManagementError } from "./management.ts";
import type { Strategy } from "./strategies.ts";

/** A running broker for the live tests. Both URLs carry the credentials of an administrator. */
export interface Broker {
  /** Major and minor, as targets name it: "4.3". */
  readonly version: string;
  /** As the broker itself says: "4.3.6". */
  readonly fullVersion: string;
  readonly amqpUrl: string;
  readonly managementUrl: string;
  readonly origin: "official" | "debian" | "environment";
  /** Missing for a broker from the environment, because a test must not restart it. */
  readonly containerId?: string;
}

declare module "vitest" {
  interface ProvidedContext {
    brokers: readonly Broker[];
  }
}

/** The brokers of this run: one of each supported version, or the one that the environment names. */
export function brokers(): readonly Broker[] {
  return inject("brokers");
}

/** Each of the strategies that a version has, on each broker of this run. */
export function strategyCases<Each extends Strategy>(strategiesOf: (version: string) => readonly Each[]) {
  return brokers().flatMap((broker) =>
    strategiesOf(broker.version).map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
  );
}

/** A virtual host of a test's own, so that tests can share brokers. */
export interface TestVhost {
  readonly vhost: string;
  readonly amqpUrl: string;
  dispose(): Promise<void>;
}

export async function createVhost(broker: Broker): Promise<TestVhost> {
  const management = createManagement(broker.managementUrl);
  const vhost = `test-${randomUUID()}`;
  await putVhost(management, vhost);
  await management.putPermissions(vhost, credentialsOf(broker.amqpUrl).user);
  return {
    vhost,
    amqpUrl: `${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${vhost}`,
    dispose: async () => management.deleteVhost(vhost),
  };
}

/**
 * A node of a cluster may learn of a new virtual host a little later than the node that was asked. Then the answer is
 * an error. Asking again for an existing virtual host changes nothing.
 */
async function putVhost(management: Management, vhost: string): Promise<void> {
  const isLate = (error: unknown): boolean =>
    error instanceof ManagementError && error.message.includes("failed_to_start_vhost_on_nodes");
  for (let again = 0; again < 10; again++) {
    try {
      return await management.putVhost(vhost);
    } catch (error) {
      if (!isLate(error)) throw error;
      await setTimeout(1_000);
    }
  }
  return management.putVhost(vhost);
}

/**
 * Restarts a broker and waits until its queues are available again. This cuts every connection, so call it only on a
 * broker that the test started for itself (`startBroker`). The brokers of `brokers()` serve other test files at the
 * same time.
 */
export async function restartBroker(broker: Broker): Promise<void> {
  if (broker.containerId === undefined)
    throw new Error(`RabbitMQ ${broker.fullVersion} comes from the environment and is not ours to restart.`);
  await docker("restart", broker.containerId);
  // Loaded here because testcontainers takes a quarter of a second, and few test files restart a broker.
  const { waitUntilReady } = await import("./broker-containers.ts");
  await waitUntilReady(broker.managementUrl, broker.amqpUrl);
}
