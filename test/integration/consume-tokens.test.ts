import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RabbitmqCredentials } from "redeliver/consume";
import { permanent } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import type { BrokerVersion } from "../support/broker-images.ts";
import { brokerVersions } from "../support/broker-images.ts";
import type { ConsumedSystem } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { start } from "../support/consume/start.ts";
import type { TokenBroker } from "../support/consume/token-broker.ts";
import { startTokenBroker } from "../support/consume/token-broker.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
type Strategy = "staged" | "deferred";

function declaration(strategy: Strategy): unknown {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "50ms" } };
  return billingUnder(strategy, { retry, handlerTimeout: "2m" });
}

/** Long enough for a start on a machine that is slow. */
const lifetimeMs = 10_000;

/** Before the first message credentials are asked for to look, to read the settings, and to consume. */
const askedAtStart = 3;

// 4.0 does with tokens as 3.10 does, so it is looked at where it is alone.
const versions = brokerVersions.filter(
  (version) => brokers().some((each) => each.version === version) && (version !== "4.0" || brokers().length === 1),
);

describe.each(versions)("tokens that expire, on %s", { concurrent: true }, (version: BrokerVersion) => {
  let place: TokenBroker;
  beforeAll(async () => {
    place = await startTokenBroker(version);
  });
  afterAll(async () => place.stop());

  const strategies: readonly Strategy[] = version === "4.3" ? ["staged", "deferred"] : ["staged"];

  /** Deploys with a user that has a password; the consumer has credentials alone. */
  async function consuming(
    strategy: Strategy,
    credentials: () => Promise<RabbitmqCredentials>,
    handler: Parameters<typeof consumeFrom>[2],
  ): Promise<{ readonly system: DeployedSystem; readonly billing: ConsumedSystem }> {
    const { broker } = place;
    const system = await deploy(broker, declaration(strategy), strategy);
    const { url, managementUrl } = withoutUser(system);
    const options = { connection: { url, managementUrl, credentials }, concurrency: 5 };
    const given = { broker, declaration: declaration(strategy), consumer: "billing", strategy, options };
    return { system, billing: await consumeFrom(system, given, handler) };
  }

  function withoutUser({ url }: DeployedSystem): { readonly url: string; readonly managementUrl: string } {
    const bare = (text: string): string => text.replace(/\/\/[^@]*@/, "//");
    return { url: bare(url), managementUrl: bare(place.broker.managementUrl) };
  }

  describe.each(strategies)("%s", (strategy) => {
    test("renewed in time, over and over: one connection, and a handler that outlives three of them runs once", async () => {
      const expirations: number[] = [];
      const { system, billing } = await consuming(
        strategy,
        async () => {
          const { password, expiration } = place.issue(lifetimeMs);
          expirations.push(expiration.getTime());
          // Early enough for a machine that is slow.
          return { password, expiration: new Date(expiration.getTime() - 4_000) };
        },
        async ({ id }) => {
          if (id === "long")
            await until(90_000, () => expirations.slice(askedAtStart - 1).filter((at) => at < Date.now()).length >= 3);
        },
      );
      await system.publish(["long"], source);
      let sent = 0;
      while (billing.events.every((event) => event.kind !== "settled" || event.messageId !== "long")) {
        await system.publish([`m${(sent += 1)}`], source);
        await sleep(200);
      }
      await until(30_000, () => billing.runs.length === sent + 1);
      await billing.running.stop();
      expect(billing.events.filter(({ kind }) => kind === "lost" || kind === "renew-failed")).toEqual([]);
      // The management API has let it in with the token, too.
      expect(billing.events.filter(({ kind }) => kind === "not-compared")).toEqual([]);
      expect(new Set(billing.runs.map(({ id }) => id)).size).toBe(billing.runs.length);
      expect(billing.runs.every(({ attempt }) => attempt === 1)).toBe(true);
      expect(await system.drain("shop.billing")).toEqual([]);
      expect(await system.drain("shop.billing.dead")).toEqual([]);
      await system.dispose();
    });

    test("a renewal that fails is told, and tried again before the old token expires", async () => {
      let asked = 0;
      const { system, billing } = await consuming(
        strategy,
        async () => {
          asked += 1;
          if (asked === askedAtStart + 1 || asked === askedAtStart + 2) throw new Error("the token endpoint is away");
          return { ...place.issue(90_000), expiration: new Date(Date.now() + 3_000) };
        },
        () => undefined,
      );
      await until(60_000, () => asked >= askedAtStart + 3);
      await system.publish(["after"], source);
      await until(30_000, () => billing.runs.length === 1);
      await billing.running.stop();
      const failures = billing.events.flatMap((event) => (event.kind === "renew-failed" ? [event.nextTryMs] : []));
      expect(failures).toEqual([1_000, 2_000]);
      expect(billing.events.filter(({ kind }) => kind === "lost")).toEqual([]);
      await system.dispose();
    });
  });

  test("credentials that fail at the start, or are none: refused, and what was thrown is not repeated", async () => {
    const system = await deploy(place.broker, declaration("staged"), "staged");
    await system.publish(["a"], source);
    const refusal = async (credentials: () => Promise<RabbitmqCredentials>) =>
      start(system, {
        broker: place.broker,
        declaration: declaration("staged"),
        consumer: "billing",
        strategy: "staged",
        options: { connection: { ...withoutUser(system), credentials } },
      });
    const failed = await refusal(() => Promise.reject(new TypeError("no answer for the client with secret hush")));
    expect(failed.codes).toEqual(["RD807"]);
    expect(failed.text).toContain("connection.credentials failed (TypeError)");
    expect(failed.text).not.toContain("hush");
    expect((await refusal(async () => ({}) as RabbitmqCredentials)).codes).toEqual(["RD807"]);
    expect((await refusal(async () => place.issue(-5_000))).codes).toEqual(["RD807"]);
    expect(await system.channel.get("shop.billing", { noAck: true })).toMatchObject({ fields: { redelivered: false } });
    await system.dispose();
  });

  test("without a time of expiry: what the broker does then costs no message", async () => {
    const expirations: number[] = [];
    const { system, billing } = await consuming(
      "staged",
      async () => {
        const { password, expiration } = place.issue(lifetimeMs);
        expirations.push(expiration.getTime());
        return { password };
      },
      async () => {
        throw permanent("UNKNOWN_CUSTOMER");
      },
    );
    const ids: string[] = [];
    const expired = (): number => expirations.filter((at) => at < Date.now()).length;
    // Each copy takes the permission to publish, which the broker looks at anew when the channel is a new one.
    while (expired() < askedAtStart + (version === "4.3" ? 1 : 0)) {
      ids.push(`m${ids.length}`);
      await system.publish(ids.slice(-1), source);
      await sleep(200);
    }
    const dead = new Set<string>();
    await until(60_000, async () => {
      for (const { properties } of await system.drain("shop.billing.dead")) dead.add(String(properties.messageId));
      return dead.size === ids.length;
    });
    await billing.running.stop();
    expect([...dead].toSorted()).toEqual(ids.toSorted());
    expect(billing.runs.every(({ attempt }) => attempt === 1)).toBe(true);
    // From 4.3 on the broker ends the connection; before it goes on as it is.
    const isLost = billing.events.some(({ kind }) => kind === "lost");
    expect(isLost).toBe(version === "4.3");
    await system.dispose();
  });

  test.runIf(version !== "4.3")(
    "a copy that is refused because of an expired token passes with a new one",
    async () => {
      const expirations: number[] = [];
      const { system, billing } = await consuming(
        "staged",
        async () => {
          const { password, expiration } = place.issue(expirations.length < askedAtStart ? lifetimeMs : 60_000);
          expirations.push(expiration.getTime());
          return { password };
        },
        async () => {
          throw permanent("UNKNOWN_CUSTOMER");
        },
      );
      await until(30_000, () => expirations.every((at) => at + 500 < Date.now()));
      await system.publish(["a"], source);
      let letters = 0;
      await until(60_000, async () => (letters += (await system.drain("shop.billing.dead")).length) > 0);
      await billing.running.stop();
      expect(letters).toBe(1);
      expect(billing.runs.length).toBe(1);
      expect(billing.events.map(({ kind }) => kind)).toContain("settle-failed");
      await system.dispose();
    },
  );

  // After the others, whose messages it would hold up.
  test(
    "a broker that is short of memory takes nothing that is published: it begins, and says what it could not ask",
    { concurrent: false },
    async () => {
      const system = await deploy(place.broker, declaration("staged"), "staged");
      const { broker } = place;
      const given = { broker, declaration: declaration("staged"), consumer: "billing", strategy: "staged" } as const;
      await place.exec(["rabbitmqctl", "set_vm_memory_high_watermark", "0.00001"]);
      const { codes, events } = await start(system, given);
      await place.exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "2GB"]);
      expect(codes).toEqual([]);
      const notCompared = events.flatMap((event) => (event.kind === "not-compared" ? [event] : []));
      expect(notCompared).toMatchObject(
        (version === "3.10" ? ["amq.default", "shop.billing.dead"] : ["shop.billing.dead"]).map((exchange) => ({
          what: `the permission to write to ${exchange}`,
          because: "the broker takes nothing for now",
        })),
      );
      expect((await start(system, given)).events.map(({ kind }) => kind)).toEqual(["started", "stopping", "stopped"]);
      await system.dispose();
    },
  );
});
