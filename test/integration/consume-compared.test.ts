import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";

import { brokers as compilers } from "../../src/brokers/index.ts";
import { type Start, start } from "../support/consume/start.ts";
import { deploy, type DeployedSystem } from "../support/deployed-system.ts";
import { createLimitedUser } from "../support/limited-user.ts";
import { type Broker, brokers, strategyCases } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { strategiesOn, type Strategy } from "../support/strategies.ts";
import { shopWith } from "../support/examples.ts";

/** Two consumers, so that much of the topology does not belong to the first one. */
function declaration(strategy: Strategy): unknown {
  const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "50ms" } };
  return shopWith({
    billing: { from: { orders: ["order.placed"] }, protocol, retry },
    shipping: { from: { orders: "all" }, protocol, retry },
  });
}

// 4.0 answers like 3.10.
const cases = strategyCases((version) =>
  strategiesOn(version).filter((strategy) => strategy !== "native" && (strategy !== "waits" || version !== "4.0")),
);

interface Place {
  readonly broker: Broker;
  readonly strategy: Strategy;
}

/**
 * Deploys, changes one thing by hand, and starts the consumer. A refused consumer must leave the waiting message
 * untouched.
 */
async function startAfter(
  { broker, strategy }: Place,
  expected: "refused" | "begins",
  change: (system: DeployedSystem) => Promise<unknown>,
  url: (system: DeployedSystem) => string = (system) => system.url,
): Promise<Start> {
  await using system = await deploy(broker, declaration(strategy), strategy);
  await change(system);
  if (expected === "refused") await system.publish(["a"], { exchange: "", routingKey: "shop.billing" });
  const isAdministrator = url(system) === system.url;
  const connection = { url: url(system), ...(isAdministrator ? { managementUrl: broker.managementUrl } : {}) };
  const outcome = await start(system, { connection });
  if (expected === "refused") {
    const message = await system.channel.get("shop.billing", { noAck: true });
    expect(message).toMatchObject({ fields: { redelivered: false }, properties: { messageId: "a" } });
  }
  return outcome;
}

describe.each(cases)("the comparison of bindings: $name", { concurrent: true }, ({ broker, strategy }) => {
  const place = { broker, strategy };

  test("a deployed topology with more bindings on sources and dead letters: the consumer starts, and has compared everything", async () => {
    const { codes, events } = await startAfter(place, "begins", async ({ channel }) => {
      const { queue } = await channel.assertQueue("archive", { durable: true });
      await channel.bindQueue(queue, "shop.orders", "#");
      await channel.bindQueue(queue, "shop.dead", "shop.billing");
    });
    expect(codes).toEqual([]);
    expect(events.map(({ kind }) => kind)).toEqual(["started", "stopping", "stopped"]);
    expect(events[0]).toMatchObject({ strategy, workQueue: "shop.billing", attempts: 3 });
  });

  test("a work queue without a binding is refused", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ channel }) =>
      channel.unbindQueue("shop.billing", "shop.orders", "order.placed"),
    );
    expect(codes).toEqual(["RD810"]);
    expect(text).toContain("the bindings of the exchange shop.orders differ from the compiled ones");
    expect(text).toContain('to the queue shop.billing with the key "order.placed": compiled, and not deployed');
  });

  test("a dead exchange without a binding is refused", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ channel }) =>
      channel.unbindQueue("shop.billing.dead", "shop.dead", "shop.billing"),
    );
    expect(codes).toEqual(["RD810"]);
    expect(text).toContain('to the queue shop.billing.dead with the key "shop.billing": compiled, and not deployed');
  });

  test.runIf(strategy === "staged")("an exchange that no policy leads on", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ vhost }) =>
      createManagement(broker.managementUrl).delete(`policies/${vhost}/shop.billing.failed`),
    );
    expect(codes).toEqual(["RD808"]);
    expect(text).toContain('alternate-exchange: compiled is "shop.retry.2x50ms", deployed is nothing');
  });

  test.runIf(strategy === "waits")("a tier whose messages also go elsewhere is refused", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ channel }) =>
      channel.bindQueue("shop.shipping", "shop.wait.50ms", ""),
    );
    expect(codes).toEqual(["RD810"]);
    expect(text).toContain('to the queue shop.shipping with the key "": deployed, and not compiled');
  });

  test("a missing source and its missing bindings give one diagnostic, by both APIs", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ channel }) => channel.deleteExchange("shop.orders"));
    expect(codes).toEqual(["RD805"]);
    expect(text).toContain("there is no exchange shop.orders in this virtual host");
  });

  test("a missing dead queue is refused", async () => {
    const { codes, text } = await startAfter(place, "refused", ({ channel }) =>
      channel.deleteQueue("shop.billing.dead"),
    );
    expect(codes).toEqual(["RD805"]);
    expect(text).toContain("there is no queue shop.billing.dead in this virtual host");
  });
});

describe.each(cases.filter(({ strategy }) => strategy !== "deferred"))(
  "the permission to publish copies: $name",
  { concurrent: true },
  ({ broker, strategy }) => {
    const management = createManagement(broker.managementUrl);

    async function startAs(
      expected: "refused" | "begins",
      write: string,
    ): Promise<Start & { readonly user: string; readonly vhost: string }> {
      const user = `user-${randomUUID()}`;
      let vhost = "";
      await management.put(`users/${user}`, { password: "secret", tags: "" });
      try {
        const outcome = await startAfter(
          { broker, strategy },
          expected,
          async (system) => {
            ({ vhost } = system);
            const permissions = { configure: "^$", write, read: "^shop\\.billing$" };
            await management.put(`permissions/${encodeURIComponent(vhost)}/${user}`, permissions);
          },
          ({ url }) => {
            const own = new URL(url);
            own.username = user;
            own.password = "secret";
            return own.href;
          },
        );
        return { ...outcome, user, vhost };
      } finally {
        await management.delete(`users/${user}`);
      }
    }

    const published = {
      staged: ["shop.dead"],
      waits: ["shop.wait.50ms", "shop.dead"],
      deferred: [],
      native: [],
    }[strategy];

    test("to no exchange: the refusal names the user, the virtual host and each exchange", async () => {
      const { diagnostics, user, vhost } = await startAs("refused", "^$");
      expect(diagnostics.map(({ code }) => code)).toEqual(published.map(() => "RD807"));
      expect(diagnostics.map(({ message }) => message).toSorted()).toEqual(
        published
          .map((name) => `the user ${user} may not write to the exchange ${name} in the virtual host ${vhost}`)
          .toSorted(),
      );
      expect(diagnostics[0]?.help).toMatch(/^rabbitmqctl set_permissions .* with a WRITE that matches /);
    });

    test("to all exchanges but one: the refusal names that one", async () => {
      const { diagnostics } = await startAs("refused", "^(amq\\.default|shop\\.wait\\..*)$");
      expect(diagnostics.map(({ path }) => path)).toEqual(["shop.dead"]);
    });

    test("with the least permissions: the consumer starts", async () => {
      const { codes, events } = await startAs("begins", "^(amq\\.default|shop\\.wait\\.50ms|shop\\.dead)$");
      expect(codes).toEqual([]);
      const notCompared = events.flatMap((event) => (event.kind === "not-compared" ? [event.what] : []));
      expect(notCompared).toContain("arguments, policies and bindings");
      expect(events.map(({ kind }) => kind)).toContain("started");
    });
  },
);

// Up to 4.2 a user with this tag alone can read none of it.
test.for(brokers().filter(({ version }) => version === "4.3"))(
  "the tag management alone compares all but the policy of an exchange, on $version",
  async (broker) => {
    await using system = await deploy(broker, declaration("staged"), "staged");
    const rights = compilers.rabbitmq.permissions.toConsume(system.contract("billing"));
    await using user = await createLimitedUser(broker, system.vhost, { ...rights, tag: "management" });
    const startAsUser = (): Promise<Start> => {
      const connection = { url: user.amqpUrl, managementUrl: user.broker.managementUrl };
      return start(system, { connection });
    };
    const { codes, events } = await startAsUser();
    expect(codes).toEqual([]);
    const notCompared = events.flatMap((event) => (event.kind === "not-compared" ? [event.what] : []));
    expect(notCompared).toContain("the policy of the exchange shop.billing.failed");
    await system.channel.unbindQueue("shop.billing", "shop.orders", "order.placed");
    expect((await startAsUser()).codes).toEqual(["RD810"]);
  },
);

test.for(brokers())("no permission for an instance's own queue, on $version", async (broker) => {
  const management = createManagement(broker.managementUrl);
  const watching = { from: { orders: "all" }, delivery: "every-instance" };
  const everyInstance = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { watching } };
  const system = await deploy(broker, everyInstance);
  const { name: user, amqpUrl: url, remove } = await createLimitedUser(broker, system.vhost, { tag: null });
  const startWith = async (own: string, read: string): Promise<Start> => {
    const permissions = `permissions/${encodeURIComponent(system.vhost)}/${user}`;
    await management.put(permissions, { configure: own, write: own, read });
    return start({ ...system, consumer: "watching" }, { connection: { url } });
  };
  const own = "^amq\\.gen-.*$";
  for (const [write, read] of [
    ["^$", ".*"],
    [own, own],
  ] as const) {
    const { codes, text } = await startWith(write, read);
    expect(codes).toEqual(["RD807"]);
    expect(text).toContain(
      `the user ${user} may not make a queue of its own and bind it to shop.orders in the virtual host ${system.vhost}`,
    );
  }
  expect((await startWith(own, "^(amq\\.gen-.*|shop\\.orders)$")).codes).toEqual([]);
  await remove();
  await system.dispose();
});
