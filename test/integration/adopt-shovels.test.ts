import { expect, onTestFinished, test } from "vitest";

import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { brokers, parseTarget } from "../../src/index.ts";
import { adoptDeployment } from "../../src/migrate/adopt.ts";
import { startBroker } from "../support/broker-containers.ts";
import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { accepted } from "../support/examples.ts";

const { auditor } = brokers.rabbitmq;
const quorum = { durable: true, auto_delete: false, arguments: { "x-queue-type": "quorum" } };

test.for(["4.3", "3.10"] as const)(
  "a queue that a shovel of RabbitMQ %s empties is no work queue, by the API and by the export",
  { timeout: 240_000 },
  async (version) => {
    const { broker, stop } = await startBroker(version, undefined, { plugins: ["rabbitmq_shovel"] });
    onTestFinished(stop);
    const { vhost, amqpUrl } = await createVhost(broker);
    const management = createManagement(broker.managementUrl);
    for (const name of ["work", "outbox"]) await management.declareQueue(vhost, name, quorum);
    const value = { "src-uri": amqpUrl, "src-queue": "outbox", "dest-uri": amqpUrl, "dest-queue": "work" };
    await management.put(`parameters/shovel/${encodeURIComponent(vhost)}/wan`, { value });
    const live = await readLiveBroker(`${broker.managementUrl}/${encodeURIComponent(vhost)}`, auditor.live, {});
    const exported = auditor.file.read(JSON.stringify(await management.exportDefinitions(vhost)));
    for (const read of [live, exported]) {
      const deployment = read.ok ? read.value : expect.unreachable();
      const adopted = adoptDeployment(deployment, accepted(parseTarget(`rabbitmq@${version}`)), {
        name: "shop",
        queues: [],
      });
      const { draft, unsaid } = adopted.ok ? adopted.value : expect.unreachable();
      expect(Object.keys(draft.system.consumers)).toEqual(["work"]);
      expect(unsaid.map(({ place, fact }) => `${place}: ${fact}`)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^outbox: the shovel wan takes its messages on/),
          expect.stringMatching(/^work: the shovel wan publishes to it/),
        ]),
      );
    }
  },
);
