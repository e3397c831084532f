import amqplib from "amqplib";
import { describe, expect, inject, test } from "vitest";

import { changeCases } from "../support/change/cases.ts";
import { pulumiEngine } from "../support/change/engines.ts";
import { compiledOf, fill } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { until } from "../support/deployed-system.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// Somebody made a resource again with other settings, and messages wait. Pulumi cannot change it back. The repair that
// `redeliver diff` names gives it its settings, and no message is lost.

if (!hasPulumiCli) console.warn("[drift-repair] nothing was repaired: there is no pulumi on PATH");

/** Far more than the longest delay, and than a busy machine needs. */
const patienceMs = 120_000;

/** A kind that leads these messages as the declared one does. Another one would double them before any repair. */
const otherKind: Readonly<Record<string, string>> = { direct: "topic", topic: "direct" };

type Role = "again" | "source" | "waiting" | "work";

describe.runIf(hasPulumiCli).each(inject("brokers"))("on RabbitMQ $fullVersion", (broker) => {
  test.concurrent.each<Role>(["again", "source", "waiting", "work"])("%s", { timeout: 600_000 }, async (role) => {
    const { vhost, dispose } = await createVhost(broker);
    const engine = await pulumiEngine(broker);
    try {
      const { before } = changeCases(broker.version, vhost, vhost, "5s")[0] ?? expect.unreachable();
      const deployment = { ...before, strategy: broker.version === "3.10" ? "waits" : "staged" } as const;
      expect(await engine.up(deployment, { skipPreview: true })).toBeNull();
      const { made, remove, isEmpty, bindAgain, close } = await madeOtherwise(broker, deployment, role);
      const waiting = await fill(broker, deployment, 50);
      expect(await engine.up(deployment, { refresh: true })).toMatch(made);

      if (role === "work") expect(await waiting.unsettled(deployment, [deployment])).toEqual([]);
      await until(patienceMs, isEmpty);
      await close();
      await remove();
      expect(await engine.up(deployment, { refresh: true })).toBeNull();
      await bindAgain();
      await waiting.publish();
      expect(await waiting.unsettled(deployment, [deployment])).toEqual([]);
      await waiting.dispose();
    } finally {
      await engine.dispose();
      await dispose();
    }
  });
});

/** Deletes one resource and makes it again with another setting, and with the bindings that it had. */
async function madeOtherwise(broker: Broker, deployment: Deployment, role: Role) {
  const { vhost } = deployment;
  const management = createManagement(broker.managementUrl);
  const { queues, exchanges, bindings } = compiledOf(deployment).topology;
  const exchange = exchanges.find((each) => each.role === role);
  const queue = queues.find((each) => each.role === role || (role === "waiting" && /tier|wait/.test(each.role)));
  const { name } = exchange ?? queue ?? expect.unreachable();
  const path = [exchange === undefined ? "queues" : "exchanges", vhost, name].map(encodeURIComponent).join("/");
  // The counts of the management API lag.
  const url = `${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${encodeURIComponent(vhost)}`;
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  const remove = async (): Promise<void> => management.delete(path);
  await remove();
  if (exchange !== undefined)
    await management.declareExchange(vhost, name, { type: otherKind[exchange.kind], durable: true });
  else if (queue !== undefined) {
    const given = { ...queue.arguments, "x-quorum-initial-group-size": 1 };
    await management.declareQueue(vhost, name, { durable: true, arguments: given });
  }
  for (const each of bindings)
    if ([each.source, each.destination].includes(name))
      await management.bind(vhost, { ...each, destinationType: each.destinationKind });
  return {
    remove,
    /** A deleted source takes the bindings of other teams with it. */
    bindAgain: async (): Promise<void> => {
      const theirs = {
        source: name,
        destination: "foreign",
        destinationType: "queue",
        routingKey: "order.placed",
      } as const;
      if (role === "source") await management.bind(vhost, theirs);
    },
    close: async (): Promise<void> => connection.close(),
    made: exchange === undefined ? /./ : /doesn't support update/,
    isEmpty: async (): Promise<boolean> => queue === undefined || (await channel.checkQueue(name)).messageCount === 0,
  };
}
