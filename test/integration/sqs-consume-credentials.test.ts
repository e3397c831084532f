import { describe, expect, test } from "vitest";

import { RefusedError } from "../../src/index.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { region } from "../support/sqs/clients.ts";
import { type Consuming, consuming, untilCount } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { type RecordingProxy, startRecordingProxy } from "../support/sqs/recording-proxy.ts";

const billing = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "linear", first: "1s" } },
  handlerTimeout: "5s",
};
const succeed = (): void => undefined;
const expired = { error: "ExpiredToken", status: 403 };

describe.concurrent.each(sqsEmulators())("credentials of a consumer on $name $version", (emulator) => {
  const within = async (run: (system: DeployedSystem, proxy: RecordingProxy) => Promise<void>): Promise<void> => {
    await using system = await deploy(emulator, { billing });
    await using proxy = await startRecordingProxy(emulator.endpoint);
    await run(system, proxy);
  };
  /** Credentials that the consumer fetches, numbered in their order. */
  const fetching = ({ endpoint }: RecordingProxy) => {
    let fetched = 0;
    const credentials = async () => ({ accessKeyId: `key-${++fetched}`, secretAccessKey: "test" });
    return { fetched: () => fetched, connection: { endpoint, region, credentials } };
  };
  const numberOf = (accessKeyId: string): number => Number(accessKeyId.replace("key-", ""));
  const send = async ({ lab, work }: DeployedSystem): Promise<void> => {
    await lab.send(work("billing"), "order 1");
  };

  test("expired keys are fetched anew, and messages continue", async () =>
    within(async (system, proxy) => {
      const { fetched, connection } = fetching(proxy);
      await using consumer = await consuming(system, "billing", succeed, { connection });
      const valid = fetched() + 1;
      proxy.decide(({ accessKeyId }) => (numberOf(accessKeyId) < valid ? expired : "pass"));
      await send(system);
      await untilCount(system, "work", "billing", 0);
      expect(consumer.runs.length).toBeGreaterThan(0);
      expect(fetched()).toBeGreaterThanOrEqual(valid);
    }));

  test("keys that expired before the start are fetched anew as well; the consumer is refused only if new ones fail, too", async () =>
    within(async (system, proxy) => {
      const { connection } = fetching(proxy);
      // The consumer checks two queues, and fetches credentials for each.
      proxy.decide(({ accessKeyId }) => (numberOf(accessKeyId) <= 2 ? expired : "pass"));
      const consumer = await consuming(system, "billing", succeed, { connection });
      expect(consumer.health().state).toBe("running");
      await consumer.stop();
      proxy.decide(() => expired);
      await expect(consuming(system, "billing", succeed, { connection })).rejects.toThrow("RD807");
    }));

  test("keys that expire with the first receive cause no refusal", async () =>
    within(async (system, proxy) => {
      let refusals = 0;
      proxy.decide(({ operation }) => (operation === "ReceiveMessage" && refusals++ === 0 ? expired : "pass"));
      await using consumer = await consuming(system, "billing", succeed, { connection: fetching(proxy).connection });
      await send(system);
      await until(60_000, () => consumer.events.some(({ kind }) => kind === "settled"));
      expect(consumer.attemptsOf("order 1")).toEqual([1]);
    }));

  test("a user who may do everything but receive is refused at the start", async () =>
    within(async (system, proxy) => {
      const denied = { error: "AccessDenied", status: 403 };
      await send(system);
      proxy.decide(({ operation }) => (operation === "ReceiveMessage" ? denied : "pass"));
      const { connection } = fetching(proxy);
      const error = await consuming(system, "billing", succeed, { connection }).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(RefusedError);
      const notes = [expect.stringContaining("AccessDenied"), expect.stringContaining("sqs:ReceiveMessage")];
      expect((error as RefusedError).diagnostics).toMatchObject([{ code: "RD807", notes }]);
      const asked = proxy.calls.length;
      proxy.decide(() => "pass");
      await sleep(1_000);
      expect(proxy.calls, "nobody goes on").toHaveLength(asked);
      const [message] = await system.lab.receive(system.work("billing"), { waitSeconds: 1 });
      expect(message?.Attributes?.ApproximateReceiveCount, "no receive was spent on finding out").toBe("1");
    }));

  test("the consumer writes nothing into the caller's connection, so a second consumer can start with it", async () =>
    within(async (system, { endpoint }) => {
      const keys = { accessKeyId: "test", secretAccessKey: "test" };
      const connection = { endpoint, region, credentials: keys };
      const consumers: Consuming[] = [];
      for (const _ of [1, 2]) consumers.push(await consuming(system, "billing", succeed, { connection }));
      await send(system);
      await until(60_000, () => consumers.some(({ events }) => events.some(({ kind }) => kind === "settled")));
      await Promise.all(consumers.map(({ stop }) => stop()));
      expect(keys).toEqual({ accessKeyId: "test", secretAccessKey: "test" });
    }));

  test("messages of the first receive are handled, without another receive for them", async () =>
    within(async (system, proxy) => {
      await send(system);
      await using consumer = await consuming(system, "billing", succeed, { connection: fetching(proxy).connection });
      await until(60_000, () => consumer.events.some(({ kind }) => kind === "settled"));
      expect(consumer.attemptsOf("order 1")).toEqual([1]);
      const first = proxy.calls.find(({ operation }) => operation === "ReceiveMessage");
      expect(first?.input["WaitTimeSeconds"]).toBe(0);
    }));
});
