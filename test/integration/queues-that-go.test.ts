import { connect } from "amqplib";
import { describe, expect, inject, test } from "vitest";

import { type BrokerTopology, semanticsOf, semanticsVersionOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { parseTarget } from "../../src/index.ts";
import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import type { BrokerVersion } from "../support/broker-images.ts";

// When the broker deletes a queue itself, it does not dead-letter the messages in it. The model says the same.

const deadLettering = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "kept" };
const topology: BrokerTopology = {
  exchanges: [],
  queues: [
    { name: "transient", kind: "classic", arguments: deadLettering, goesWith: ["restart"] },
    { name: "auto-delete", kind: "classic", arguments: deadLettering, goesWith: ["last-consumer"] },
    { name: "kept", kind: "classic", arguments: {} },
  ],
  bindings: [],
  policies: [],
};

describe.for(inject("brokers"))(
  "queues that the broker deletes, on RabbitMQ $fullVersion",
  ({ version, fullVersion, managementUrl }) => {
    test("a queue that is not durable, or auto-delete, disappears with its messages", async () => {
      const { broker, exec, stop } = await startBroker(version as BrokerVersion);
      try {
        const connection = await connect(broker.amqpUrl);
        connection.on("error", () => undefined);
        const channel = await connection.createConfirmChannel();
        for (const { name, arguments: given, goesWith = [] } of topology.queues) {
          const options = { durable: !goesWith.includes("restart"), autoDelete: goesWith.includes("last-consumer") };
          await channel.assertQueue(name, { ...options, arguments: given });
          channel.sendToQueue(name, Buffer.from(name), { persistent: true });
        }
        await channel.waitForConfirms();
        await channel.consume("auto-delete", () => undefined, { consumerTag: "looks" });
        await channel.cancel("looks");
        const queues = (): Promise<string> => exec(["rabbitmqctl", "-q", "list_queues", "name"]);
        // On a busy machine `rabbitmqctl` takes seconds to start.
        await expect.poll(queues, { timeout: 60_000 }).not.toContain("auto-delete");
        await connection.close();
        await exec(["rabbitmqctl", "stop_app"]);
        await exec(["rabbitmqctl", "start_app"]);
        await waitUntilReady(broker.managementUrl, broker.amqpUrl);
        const left = await exec(["rabbitmqctl", "-q", "list_queues", "name", "messages"]);
        expect(left).not.toContain("transient");
        // The other two messages did not reach it.
        expect(left).toMatch(/kept\s+1\b/);
      } finally {
        await stop();
      }
      const target = parseTarget(`rabbitmq@${fullVersion}`);
      if (!target.ok) throw new Error("the version is known");
      const semantics = semanticsOf(topology, semanticsVersionOf(target.value));
      const after = (queue: string, kind: "broker-restart" | "last-consumer-gone"): string => {
        const [state] = semantics.publish({ exchange: "", routingKey: queue }).flat();
        const [next] = state === undefined ? [] : semantics.step(state, { kind }).flat();
        return next?.place.kind === "lost" ? next.place.cause : "unchanged";
      };
      expect(after("transient", "broker-restart")).toBe("queue-deleted");
      expect(after("auto-delete", "last-consumer-gone")).toBe("queue-deleted");
      expect(after("kept", "broker-restart")).toBe("unchanged");
    });

    test("an audit reports exactly the resources that the version refuses", { timeout: 180_000 }, async () => {
      const { origin, username, password } = new URL(managementUrl);
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
      const ask = async (method: string, path: string, body?: object): Promise<number> => {
        const headers = { authorization, "content-type": "application/json" };
        const response = await fetch(`${origin}/api/${path}`, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        });
        return response.status;
      };
      const policy = { pattern: "^mirrored$", definition: { "ha-mode": "all" }, "apply-to": "queues" };
      expect(await ask("PUT", "policies/%2F/mirrored", policy)).toBe(version === "3.10" ? 201 : 400);
      await ask("DELETE", "policies/%2F/mirrored");
      // The documentation of 4.3 says that the broker refuses these by default, but it accepts them.
      expect(await ask("PUT", "queues/%2F/transient-shared", { durable: false })).toBe(201);
      await ask("DELETE", "queues/%2F/transient-shared");
    });
  },
);
