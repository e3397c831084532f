import { expect, inject, test } from "vitest";

import { exportDefinitions } from "../../src/brokers/rabbitmq/make/export.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { brokers, type System } from "../../src/index.ts";
import { compiledOf } from "../support/change/live-change.ts";
import { accepted, checked } from "../support/examples.ts";
import { createVhost } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { publishesCopies, strategiesOn } from "../support/strategies.ts";

const systemOf = (attempts: number, consumers: readonly string[]): System =>
  checked({
    name: "shop",
    // The queues of mail have names without the system's prefix.
    names: { dead: "{queue}-dlq" },
    sources: { orders: { kind: "topic" } },
    consumers: Object.fromEntries(
      consumers.map((name) => [
        name,
        {
          from: { orders: ["order.placed", "order.#"] },
          retry: { attempts, backoff: { kind: "exponential", first: "1s", factor: 2 } },
          ...(name === "mail" ? { queue: "letters" } : {}),
        },
      ]),
    ),
  });

test.each(
  inject("brokers").flatMap((broker) =>
    strategiesOn(broker.version)
      .filter(publishesCopies)
      .map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.fullVersion}` })),
  ),
)(
  "$name: each leftover is listed, its requests remove it in order, and declared resources stay",
  async ({ broker, strategy }) => {
    const { vhost, dispose } = await createVhost(broker);
    try {
      const management = createManagement(broker.managementUrl);
      const place = { component: "shop", vhost, version: broker.version, strategy };
      const old = compiledOf({ ...place, system: systemOf(5, ["billing", "mail"]) });
      const now = compiledOf({ ...place, system: systemOf(3, ["billing"]) });
      const deploy = ({ topology }: typeof old): Promise<void> =>
        management.importDefinitions(exportDefinitions(topology, vhost) as unknown as JsonObject, vhost);
      await deploy(old);
      const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
      const leftovers = async (compiled: typeof old) => {
        const read = accepted(await readLiveBroker(url, brokers.rabbitmq.auditor.live, {}));
        return brokers.rabbitmq.auditor.leftoversIn(read, compiled);
      };
      expect(await leftovers(old)).toEqual([]);
      await deploy(now);
      const found = await leftovers(now);
      const queues = found.flatMap(({ kind, name }) => (kind === "queue" ? [name] : []));
      const stays = new Set(now.topology.queues.map(({ name }) => name));
      expect(queues.toSorted()).toEqual(
        old.topology.queues.flatMap(({ name }) => (stays.has(name) ? [] : [name])).toSorted(),
      );
      for (const request of found.flatMap(({ removal }) => removal)) {
        const [, path = ""] = /^DELETE \/api\/(\S+)$/.exec(request) ?? [];
        expect(path, request).not.toBe("");
        await management.delete(path);
      }
      expect(await leftovers(now)).toEqual([]);
      const left = await management.get<readonly JsonObject[]>(`queues/${encodeURIComponent(vhost)}`);
      expect(left.map(({ name }) => name).toSorted()).toEqual([...stays].toSorted());
      const bindings = await management.get<readonly JsonObject[]>(`bindings/${encodeURIComponent(vhost)}`);
      expect(bindings.filter(({ source }) => source !== "")).toHaveLength(now.topology.bindings.length);
    } finally {
      await dispose();
    }
  },
);
