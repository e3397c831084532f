import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import type { ConsumeOptions } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import { type ConsumedSystem, consumeFrom } from "../support/consume/consumed.ts";
import type { ProcessInput } from "../support/consume/consumer-process.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { createManagement, credentialsOf } from "../support/management.ts";
import { strategyCases } from "../support/live.ts";
import { oneForEachProtocol } from "../support/strategies.ts";

const script = resolve(import.meta.dirname, "../support/consume/consumer-process.ts");
/** A stop that waits for the broker would take its whole time limit, which is 30 s. */
const longestStopMs = 20_000;
type Connection = ConsumeOptions<"rabbitmq">["connection"];

const cases = strategyCases(oneForEachProtocol);

describe.concurrent.each(cases)("a stop while a connection is opening: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);

  const { proxied, spawned } = liveStage(broker);
  const deployed = () => proxied(declaration, strategy);

  const consuming = (system: DeployedSystem, connection: Connection): Promise<ConsumedSystem> =>
    consumeFrom({ ...system, options: { connection } }, () => undefined);

  const stopInTime = async ({ running }: ConsumedSystem): Promise<void> => {
    const beganMs = performance.now();
    await running.stop("500ms");
    expect(performance.now() - beganMs).toBeLessThan(longestStopMs);
    expect(running.health()).toMatchObject({ state: "stopped", handling: 0, waiting: 0 });
  };

  test("after each frame from the broker: nothing is open after the stop", async () => {
    const { system, proxy } = await deployed();
    let stopped = 0;
    for (let isOpen = false; !isOpen; stopped += 1) {
      proxy.passes = Infinity;
      const billing = await consuming(system, { url: proxy.url });
      proxy.passes = stopped;
      const heldBefore = proxy.held;
      proxy.cutAll();
      const hasReconnected = (): boolean => billing.kinds().includes("reconnected");
      await until(30_000, () => hasReconnected() || proxy.held > heldBefore);
      isOpen = hasReconnected();
      await stopInTime(billing);
      // The broker ends a connection when its client asks. A socket that the client never ends would stay open.
      await until(30_000, () => proxy.connections() === 0);
      if (!isOpen) expect(billing.kinds().slice(-3)).toEqual(["lost", "stopping", "stopped"]);
    }
    // The steps of a start: greeting, credentials, tuning, a channel or session, the queue's consumer.
    expect(stopped).toBeGreaterThan(5);
    await until(30_000, async () => {
      const management = createManagement(broker.managementUrl);
      const open = await management.get<readonly { readonly vhost: string }[]>("connections");
      // The connection of the test itself.
      return open.filter(({ vhost }) => vhost === system.vhost).length === 1;
    });
    // A queue drops a consumer a moment after its connection has closed.
    await until(30_000, async () => (await system.channel.checkQueue("shop.billing")).consumerCount === 0);
  });

  test("while the program fetches credentials: the stop waits for them no longer", async () => {
    const { system, proxy } = await deployed();
    const { user: username, password } = credentialsOf(system.url);
    let asked = 0;
    const credentials = async (): Promise<{ username: string; password: string }> => {
      asked += 1;
      // The comparison asks once, and the first connection asks once.
      return asked <= 2 ? { username, password } : new Promise(() => undefined);
    };
    const billing = await consuming(system, { url: proxy.url, credentials });
    proxy.cutAll();
    await until(30_000, () => asked === 3);
    await stopInTime(billing);
    expect(proxy.connections()).toBe(0);
  });

  test("a process that stops then ends by itself", async () => {
    const { proxy } = await deployed();
    const input: ProcessInput = {
      system: checked(declaration),
      version: broker.version,
      strategy,
      url: proxy.url,
      concurrency: 1,
      handlingMs: 0,
    };
    const { child, lines } = spawned(script, input);
    await until(60_000, () => lines.includes("ready"));
    proxy.passes = 2;
    proxy.cutAll();
    await until(30_000, () => proxy.held > 0);
    child.kill("SIGTERM");
    await until(longestStopMs, () => child.exitCode !== null);
    expect(child.exitCode).toBe(0);
  });
});
