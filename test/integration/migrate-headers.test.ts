import { setTimeout as sleep } from "node:timers/promises";

import { inject, test } from "vitest";

import type { Leftover } from "../../src/brokers/deployed-part.ts";
import { stageMigration } from "../support/change/migration-stage.ts";

// The management API names a binding with arguments by a hash of them, and a key with its marks encoded.

const keys = ["a+b", "b~c", "~", "x%41", "order.#"];

const declaration = (own: object): object => ({
  name: "shop",
  sources: { orders: { kind: "headers" }, events: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: { match: "all", headers: { kind: "order" } }, events: keys },
      retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } },
      ...own,
    },
  },
});

test.concurrent.for(inject("brokers"))(
  "on RabbitMQ $fullVersion a migration and leftovers end a way by headers, and by keys with marks",
  async (broker, { expect, onTestFinished }) => {
    const { vhost, management, declare, redeliver, remove } = await stageMigration(broker, declaration);
    onTestFinished(remove);
    const ways = async (source = "shop.orders"): Promise<readonly string[]> => {
      const path = `exchanges/${encodeURIComponent(vhost)}/${source}/bindings/source`;
      const all = await management.get<readonly { destination: string }[]>(path);
      return all.map(({ destination }) => destination).toSorted();
    };
    expect(await ways()).toEqual(["shop.billing"]);
    declare({ queue: "invoices" });
    // The gate asks for ten quiet seconds.
    for (let code = 3; code === 3; await sleep(1_000))
      ({ code } = await redeliver("migrate", "--apply", "--wait", "1m"));
    expect(await ways()).toEqual(["invoices"]);
    expect(await ways("shop.events")).toEqual(keys.map(() => "invoices"));

    // Somebody leads messages into the old queue once more.
    const given = { "x-match": "all", kind: "order" };
    await management.bind(vhost, {
      source: "shop.orders",
      destination: "shop.billing",
      destinationType: "queue",
      routingKey: "",
      arguments: given,
    });
    expect(await ways()).toEqual(["invoices", "shop.billing"]);
    const { out } = await redeliver("leftovers", "--json");
    const { leftovers } = JSON.parse(out) as { readonly leftovers: readonly Leftover[] };
    const way = leftovers.find(({ kind }) => kind === "binding");
    for (const request of way?.removal ?? []) await management.delete(request.slice("DELETE /api/".length));
    expect(await ways()).toEqual(["invoices"]);
  },
);
