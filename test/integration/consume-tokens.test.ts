import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permanent, type RabbitmqCredentials } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import { type BrokerVersion, brokerVersions } from "../support/broker-images.ts";
import { type ConsumedSystem, consumeFrom, type Handle } from "../support/consume/consumed.ts";
import { start } from "../support/consume/start.ts";
import { startTokenBroker, type TokenBroker } from "../support/consume/token-broker.ts";
import { deploy, type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { withQueues, type Strategy } from "../support/strategies.ts";

function declaration(strategy: Strategy): unknown {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "50ms" } };
  return billingUnder(strategy, { retry, handlerTimeout: "2m" });
}

/** Long enough for a start on a slow machine. */
const lifetimeMs = 10_000;

/**
 * Before the first message the consumer asks for credentials three times: to connect for the checks, to read settings,
 * to consume.
 */
const askedAtStart = 3;

// 4.0 treats tokens like 3.10, so it is tested only where no other version runs.
const versions = brokerVersions.filter(
  (version) => brokers().some((each) => each.version === version) && (version !== "4.0" || brokers().length === 1),
);

describe.each(versions)("tokens that expire, on %s", { concurrent: true }, (version: BrokerVersion) => {
  let place: TokenBroker;
  beforeAll(async () => {
    place = await startTokenBroker(version);
  });
  afterAll(async () => place.stop());

  const strategy091 = withQueues(version);
  const strategies: readonly Strategy[] = version === "4.3" ? [strategy091, "deferred"] : [strategy091];

  /** Deploys as a user with a password. The consumer has nothing but its credentials function. */
  async function consuming(
    strategy: Strategy,
    credentials: () => Promise<RabbitmqCredentials>,
    handler: Handle,
  ): Promise<{ readonly system: DeployedSystem; readonly billing: ConsumedSystem }> {
    const { broker } = place;
    const system = await deploy(broker, declaration(strategy), strategy);
    const { url, managementUrl } = withoutUser(system);
    const options = { connection: { url, managementUrl, credentials }, concurrency: 5 };
    return { system, billing: await consumeFrom({ ...system, options }, handler) };
  }

  function withoutUser({ url }: DeployedSystem): { readonly url: string; readonly managementUrl: string } {
    const bare = (text: string): string => text.replace(/\/\/[^@]*@/, "//");
    return { url: bare(url), managementUrl: bare(place.broker.managementUrl) };
  }

  describe.each(strategies)("%s", (strategy) => {
    test("renewed in time again and again: one connection, and a handler that outlives three tokens runs once", async () => {
      const expirations: number[] = [];
      const { system, billing } = await consuming(
        strategy,
        async () => {
          const { password, expiration } = place.issue(lifetimeMs);
          expirations.push(expiration.getTime());
          // Early enough for a slow machine.
          return { password, expiration: new Date(expiration.getTime() - 4_000) };
        },
        async ({ id }) => {
          if (id === "long")
            await until(90_000, () => expirations.slice(askedAtStart - 1).filter((at) => at < Date.now()).length >= 3);
        },
      );
      await system.publish(["long"]);
      let sent = 0;
      while (billing.events.every((event) => event.kind !== "settled" || event.messageId !== "long")) {
        await system.publish([`m${(sent += 1)}`]);
        await sleep(200);
      }
      await until(30_000, () => billing.runs.length === sent + 1);
      await billing.running.stop();
      expect(billing.events.filter(({ kind }) => kind === "lost" || kind === "renew-failed")).toEqual([]);
      // The management API has accepted the token, too.
      expect(billing.count("not-compared")).toBe(0);
      expect(new Set(billing.runs.map(({ id }) => id)).size).toBe(billing.runs.length);
      expect(billing.runs.every(({ attempt }) => attempt === 1)).toBe(true);
      expect(await system.drain("shop.billing")).toEqual([]);
      expect(await system.drain("shop.billing.dead")).toEqual([]);
      await system.dispose();
    });

    test("a failed renewal is reported, and tried again before the old token expires", async () => {
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
      await system.publish(["after"]);
      await until(30_000, () => billing.runs.length === 1);
      await billing.running.stop();
      const failures = billing.events.flatMap((event) => (event.kind === "renew-failed" ? [event.nextTryMs] : []));
      expect(failures).toEqual([1_000, 2_000]);
      expect(billing.count("lost")).toBe(0);
      await system.dispose();
    });
  });

  test("credentials that fail or are missing at the start: refused, without the thrown value in the error", async () => {
    const system = await deploy(place.broker, declaration(strategy091), strategy091);
    await system.publish(["a"]);
    const refusal = async (credentials: () => Promise<RabbitmqCredentials>) =>
      start(system, { connection: { ...withoutUser(system), credentials } });
    const failed = await refusal(() => Promise.reject(new TypeError("no answer for the client with secret hush")));
    expect(failed.codes).toEqual(["RD807"]);
    expect(failed.text).toContain("connection.credentials failed (TypeError)");
    expect(failed.text).not.toContain("hush");
    expect((await refusal(async () => ({}) as RabbitmqCredentials)).codes).toEqual(["RD807"]);
    expect((await refusal(async () => place.issue(-5_000))).codes).toEqual(["RD807"]);
    expect(await system.channel.get("shop.billing", { noAck: true })).toMatchObject({ fields: { redelivered: false } });
    await system.dispose();
  });

  test("without a time of expiry, the broker's refusal costs no message", async () => {
    const expirations: number[] = [];
    const { system, billing } = await consuming(
      strategy091,
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
    // Each copy needs the permission to publish. The broker checks it again for each new channel.
    while (expired() < askedAtStart + (version === "4.3" ? 1 : 0)) {
      ids.push(`m${ids.length}`);
      await system.publish(ids.slice(-1));
      await sleep(200);
    }
    const dead = new Set(await system.deadIds(ids.length));
    await billing.running.stop();
    expect([...dead].toSorted()).toEqual(ids.toSorted());
    expect(billing.runs.every(({ attempt }) => attempt === 1)).toBe(true);
    // From 4.3 on the broker closes the connection. Older brokers keep it open.
    const isLost = billing.count("lost") > 0;
    expect(isLost).toBe(version === "4.3");
    await system.dispose();
  });

  test.runIf(version !== "4.3")("a copy that was refused for an expired token passes with a new one", async () => {
    const expirations: number[] = [];
    const { system, billing } = await consuming(
      strategy091,
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
    await system.publish(["a"]);
    let letters = 0;
    await until(60_000, async () => (letters += (await system.drain("shop.billing.dead")).length) > 0);
    await billing.running.stop();
    expect(letters).toBe(1);
    expect(billing.runs.length).toBe(1);
    expect(billing.kinds()).toContain("settle-failed");
    await system.dispose();
  });

  // Runs last, because it would block the messages of the other tests.
  test(
    "a broker that is short of memory accepts no publish: the consumer starts, and logs the permissions that it could not check",
    { concurrent: false },
    async () => {
      const system = await deploy(place.broker, declaration(strategy091), strategy091);
      await place.exec(["rabbitmqctl", "set_vm_memory_high_watermark", "0.00001"]);
      const { codes, events } = await start(system);
      await place.exec(["rabbitmqctl", "set_vm_memory_high_watermark", "absolute", "2GB"]);
      expect(codes).toEqual([]);
      const notCompared = events.flatMap((event) => (event.kind === "not-compared" ? [event] : []));
      expect(notCompared).toMatchObject(
        (version === "3.10" ? ["shop.wait.50ms", "shop.dead"] : ["shop.dead"]).map((exchange) => ({
          what: `the permission to write to ${exchange}`,
          because: "the broker takes nothing for now",
        })),
      );
      expect((await start(system)).events.map(({ kind }) => kind)).toEqual(["started", "stopping", "stopped"]);
      await system.dispose();
    },
  );
});
