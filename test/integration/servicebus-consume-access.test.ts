import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { type Right, waitUntil } from "@redeliver/servicebus-emulator";
import type { ServicebusConnection } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { brokers, RefusedError } from "../../src/index.ts";
import { selfSigned } from "../support/self-signed.ts";
import { type ConsumedSystem, deployConsumed } from "../support/servicebus/consuming.ts";

const { claimOf } = brokers.servicebus.permissions;

/** One for all tests: of several certificates with one name a client takes only the first into account. */
const tlsIdentity = selfSigned("localhost");
setDefaultCACertificates([...getCACertificates("default"), tlsIdentity.certificate]);

const declared = { retry: { attempts: 3, backoff: { kind: "constant", delay: "200ms" } }, crash: { deliveries: 10 } };
/** Puts all messages into one session, if the queue has sessions. */
const messageOf = (body: string) => ({ body: Buffer.from(body), messageId: body, sessionId: "a" });

const refusalOf = async (start: Promise<unknown>): Promise<readonly string[]> => {
  const error = await start.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof RefusedError)) throw new Error("it was not refused", { cause: error });
  return error.diagnostics.map(({ code, message, notes, help }) => [code, message, ...notes, help].join(" | "));
};

describe.concurrent("a consumer of Service Bus with a shared access key", () => {
  test("needs Listen and Send, and is refused at the start without them; it takes no message", async (context) => {
    const system = await deployConsumed(context.onTestFinished, declared);
    const { emulator } = system.lab;
    await system.publish(messageOf("kept"));
    const start = (connectionString: string): Promise<unknown> =>
      system.consuming(() => undefined, { connection: { connectionString } });
    const listens = emulator.addKey("listens", ["Listen"]);
    const lacks = (right: Right): RegExp =>
      new RegExp(
        `^RD807 \\| .* does not let this client use shop\\.billing \\| it needs the claim ${right} .*the role ${claimOf(right).role} on shop\\.billing$`,
      );
    expect(await refusalOf(start(emulator.addKey("sends", ["Send"])))).toEqual([
      expect.stringMatching(lacks("Listen")),
    ]);
    expect(await refusalOf(start(listens))).toEqual([expect.stringMatching(lacks("Send"))]);
    const wrong = [
      listens.replace(/SharedAccessKey=[^;]*/, "SharedAccessKey=wrong"),
      listens.replace("listens", "gone"),
    ];
    for (const each of wrong) expect(await refusalOf(start(each))).toEqual([expect.stringMatching(lacks("Listen"))]);
    expect(await system.lab.peek("shop.billing")).toMatchObject([{ messageId: "kept", deliveryCount: 0 }]);
  });

  test("needs no Send if its contract makes no copies", async ({ onTestFinished }) => {
    const retry = { attempts: 2, backoff: { kind: "immediate" } };
    const system = await deployConsumed(onTestFinished, { retry });
    const connectionString = system.lab.emulator.addKey("listens", ["Listen"]);
    const consumer = await system.consuming(
      () => {
        throw new Error("no");
      },
      { connection: { connectionString } },
    );
    await system.publish(messageOf("fails"));
    await waitUntil(async () => (await system.letters("billing")).length === 1);
    expect(consumer.attemptsOf("fails")).toEqual([1, 2]);
  });

  test("needs no Manage: it runs, and logs the values that it could not compare", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, declared);
    const { emulator } = system.lab;
    const connectionString = emulator.addKey("works", ["Listen", "Send"]);
    // The emulator serves the management API on another port, like Microsoft's emulator.
    const port = /:(\d+)/.exec(emulator.managementConnectionString)?.[1] ?? "";
    const managementConnectionString = connectionString.replace(/:\d+/, `:${port}`);
    const consumer = await system.consuming(
      (_, { number }) => {
        if (number === 1) throw new Error("not yet");
      },
      { connection: { connectionString, managementConnectionString } },
    );
    expect(consumer.events[0]).toMatchObject({ kind: "not-compared", because: expect.stringContaining("401") });
    await system.publish(messageOf("one"));
    await waitUntil(() => consumer.attemptsOf("one").length === 2);
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
  });
});

describe.concurrent("a consumer of Service Bus with a credential of Microsoft Entra", () => {
  /** The SDK fetches a new token this long before the old one expires. Source: 7.9.5, `_negotiateClaim`. */
  const renewedBeforeMs = 2 * 60_000;

  /** Makes tokens that the service accepts for `lifeMs` and that the SDK renews after `renewMs`. */
  const identity = async (
    { lab }: ConsumedSystem,
    rights: readonly Right[],
    { lifeMs, renewMs }: { readonly lifeMs: number; readonly renewMs: number },
  ) => {
    const fetched = { count: 0, isDown: false };
    const connection: ServicebusConnection = {
      fullyQualifiedNamespace: await lab.emulator.serveTls(tlsIdentity),
      credential: {
        getToken: async () => {
          fetched.count += 1;
          if (fetched.isDown) throw new Error("the identity provider does not answer");
          const token = lab.emulator.issueToken(rights, lifeMs);
          return { token, expiresOnTimestamp: Date.now() + renewedBeforeMs + renewMs };
        },
      },
    };
    return { connection, fetched };
  };
  const anHour = { lifeMs: 3_600_000, renewMs: 3_600_000 };
  const places = [
    { from: "a queue", billing: declared, path: "shop.billing" },
    {
      from: "sessions",
      billing: { retry: { attempts: 3, backoff: { kind: "immediate" } }, order: "per-key" },
      path: "shop.orders/Subscriptions/billing",
    },
  ] as const;

  test("compares the deployed entities, and runs; without the roles it is refused", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, declared);
    const owner = await identity(system, ["Listen", "Send", "Manage"], anHour);
    const consumer = await system.consuming(() => undefined, { connection: owner.connection });
    await system.publish(messageOf("one"));
    await waitUntil(() => consumer.events.some(({ kind }) => kind === "settled"));
    await consumer.stop();
    expect(consumer.events.map(({ kind }) => kind)).toEqual(["started", "settled", "stopping", "stopped"]);
    const sender = await identity(system, ["Send"], anHour);
    const refusal = await refusalOf(system.consuming(() => undefined, { connection: sender.connection }));
    expect(refusal).toEqual([expect.stringContaining("RD807")]);
  });

  test.for(places)(
    "keeps its connection across many expiring tokens: from $from",
    async ({ billing }, { onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, billing);
      const { connection, fetched } = await identity(system, ["Listen", "Send"], { lifeMs: 15_000, renewMs: 1_000 });
      const beganAtMs = Date.now();
      const consumer = await system.consuming(
        (_, { number }) => {
          if (number === 1) throw new Error("not yet");
        },
        { connection },
      );
      for (let index = 0; Date.now() - beganAtMs < 20_000; index++) {
        await system.publish(messageOf(`m${index}`));
        await waitUntil(() => consumer.attemptsOf(`m${index}`).length === 2);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      expect(fetched.count).toBeGreaterThan(10);
      const kinds = new Set(consumer.events.map(({ kind }) => kind));
      // Without a new token every link ends after 15 s.
      for (const kind of ["lost", "settle-failed", "settle-dropped"] as const) expect(kinds).not.toContain(kind);
      expect(await system.letters("billing")).toEqual([]);
    },
  );

  test.for(places)(
    "loses its links if the renewal fails, logs that, and comes back with the next token: from $from",
    async ({ billing, path }, { onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, billing);
      const { connection, fetched } = await identity(system, ["Listen", "Send"], { lifeMs: 8_000, renewMs: 3_000 });
      const consumer = await system.consuming(() => undefined, { connection });
      const kinds = (): readonly string[] => consumer.events.map(({ kind }) => kind);
      await system.publish(messageOf("before"));
      await waitUntil(() => consumer.runs.length === 1);
      fetched.isDown = true;
      await waitUntil(() => kinds().includes("reconnect-failed"));
      expect(kinds()).toContain("lost");
      expect(consumer.health()).toMatchObject({ state: "reconnecting", isTaking: false });
      fetched.isDown = false;
      await waitUntil(() => kinds().includes("reconnected"));
      await system.publish(messageOf("after"));
      await waitUntil(() => consumer.attemptsOf("after").length === 1);
      await waitUntil(async () => (await system.lab.peek(path)).length === 0);
      expect(await system.letters("billing")).toEqual([]);
    },
  );
});
