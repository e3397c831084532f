import { expect, inject, onTestFinished, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { type Engine, modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import type { Deployment } from "../support/change/registered.ts";
import { checked } from "../support/examples.ts";
import { createLimitedUser, type Rights } from "../support/limited-user.ts";
import { createVhost } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { topologyOf } from "../support/pulumi.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

const how = hasPulumiCli ? "pulumi up" : "the model of Pulumi's engine (there is no pulumi on PATH)";
console.log(`[foreign-source-deployment] what runs: ${how}`);

const exchange = "events.orders";
const made = { type: "topic", durable: true, auto_delete: false, arguments: { "alternate-exchange": "events.rest" } };

test.for(inject("brokers"))(
  "an exchange of another team is bound, unbound, and else left as it is, with the least permissions: $fullVersion",
  async (broker) => {
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const place = `exchanges/${encodeURIComponent(vhost)}/${exchange}`;
    const deployment = (keys: readonly string[], given?: object): Deployment => ({
      component: "shop",
      vhost,
      version: broker.version,
      strategy: "auto",
      system: checked({
        name: "shop",
        sources: {
          orders: { kind: "topic", name: exchange, owner: "other", ...(given && { arguments: given }) },
          own: { kind: "fanout", name: "shop-own" },
        },
        consumers: {
          billing: {
            from: { orders: keys, own: "all" },
            retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
          },
        },
      }),
    });
    const both = deployment(["order.late", "order.placed"]);
    const rights = brokers.rabbitmq.permissions.toDeploy(topologyOf(both.system, broker.fullVersion));
    const engineWith = async (given: Rights): Promise<Engine> => {
      const user = await createLimitedUser(broker, vhost, given);
      onTestFinished(user.remove);
      const started = await (hasPulumiCli ? pulumiEngine(user.broker) : modelledEngine(user.broker));
      onTestFinished(started.dispose);
      return started;
    };
    const engine = await engineWith(rights);

    const bound = async (): Promise<readonly unknown[]> =>
      (await management.get<readonly JsonObject[]>(`${place}/bindings/source`))
        .map(({ routing_key: routingKey }) => routingKey)
        .toSorted();

    // Only the real engine asks the broker for an exchange.
    if (hasPulumiCli) {
      expect(await engine.up(both)).toContain(`there is no exchange ${exchange} in the virtual host ${vhost}`);
      await management.declareExchange(vhost, exchange, { ...made, type: "fanout" });
      expect(await engine.up(both)).toContain('type: compiled is "topic", deployed is "fanout"');
      expect(await bound()).toEqual([]);
      await management.delete(place);
      await management.declareExchange(vhost, exchange, made);
      const other = deployment(["order.placed"], { "alternate-exchange": "unrouted" });
      expect(await engine.up(other)).toContain('alternate-exchange: compiled is "unrouted", deployed is "events.rest"');
      expect(await bound()).toEqual([]);
      await management.delete(place);
    }

    await management.declareExchange(vhost, exchange, made);
    const before = await management.get<JsonObject>(place);
    // A binding reads from the exchange of the other team, so the permission to read has to name it.
    const blind = await engineWith({ ...rights, read: rights.configure });
    expect(await blind.up(both)).toMatch(/401/);
    expect(await bound()).toEqual([]);
    expect(await engine.up(both)).toBeNull();
    expect(await engine.up(deployment(["order.late", "order.placed"], made.arguments))).toBeNull();
    expect(await bound()).toEqual(["order.late", "order.placed"]);
    expect(await engine.up(deployment(["order.placed"]))).toBeNull();
    expect(await bound()).toEqual(["order.placed"]);
    const own = `exchanges/${encodeURIComponent(vhost)}/shop-own/bindings/source`;
    expect(await management.get(own)).toMatchObject([{ destination: "shop.billing" }]);
    await engine.unprotect();
    expect(await engine.destroy({ skipPreview: true })).toBeNull();
    const { type, arguments: given } = await management.get<JsonObject>(place);
    expect({ type, given }).toEqual({ type: before["type"], given: before["arguments"] });
  },
);
