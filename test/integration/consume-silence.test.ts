import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { until } from "../support/deployed-system.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases((version) => (version === "4.3" ? ["native", "deferred", "staged"] : ["waits"]));
/** Longer than each of these takes, and shorter than the heartbeats that a broker agrees on by default. */
const soonMs = 30_000;

describe.concurrent.each(cases)("a silent connection: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);
  const { proxied, consumed } = liveStage(broker);

  test("health() reports it first, and then the consumer gives the connection up", async () => {
    const { system, proxy } = await proxied(declaration, strategy);
    const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
    const { running } = billing;
    await system.publish(["a"]);
    await until(soonMs, () => billing.kinds().includes("settled"));
    // A broker without messages still sends heartbeats.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(running.health()).toMatchObject({ state: "running", isTaking: true });
    expect(running.health().answeredMsAgo).toBeLessThan(12_000);
    expect(billing.kinds()).not.toContain("lost");
    proxy.isSilent = true;
    await until(soonMs, () => running.health().state === "reconnecting");
    expect(running.health().isTaking).toBe(false);
    await until(soonMs, () => billing.kinds().includes("lost"));
    proxy.isSilent = false;
    await until(soonMs, () => billing.kinds().includes("reconnected"));
    await system.publish(["b"]);
    await until(soonMs, () => billing.runsOf("b").length === 1);
  });

  test("an idle consumer stops, and a starting one gives up, without waiting for the broker", async () => {
    const { system, proxy } = await proxied(declaration, strategy);
    const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
    proxy.isSilent = true;
    const begunMs = performance.now();
    await billing.running.stop();
    // Stopping alone takes up to two seconds.
    expect(performance.now() - begunMs).toBeLessThan(10_000);
    const given = new AbortController();
    const reason = new Error("told to end");
    const options = { connection: { url: proxy.url }, signal: given.signal };
    const starting = consumed({ ...system, url: proxy.url, options }, () => undefined);
    setTimeout(() => given.abort(reason), 200);
    await expect(starting).rejects.toBe(reason);
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    await until(soonMs, () => proxy.connections() === 0);
  });

  test("the signal stops a running consumer", async () => {
    const { system } = await proxied(declaration, strategy);
    const given = new AbortController();
    const options = { connection: { url: system.url }, signal: given.signal };
    const billing = await consumed({ ...system, options }, () => undefined);
    given.abort();
    await until(soonMs, () => billing.running.health().state === "stopped");
    expect(billing.events.at(-1)).toMatchObject({ kind: "stopped" });
    const late = consumed({ ...system, options }, () => undefined);
    await expect(late).rejects.toThrow("aborted");
  });
});
