import { inspect } from "node:util";

import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { type Charge, runBilling } from "../../examples/consume-orders.ts";
import { createMemoryStore, once } from "../../src/consume/index.ts";
import {
  attemptsOfCourse,
  type CourseLetter,
  expectMetrics,
  handlerTimeoutOfCourse,
  nameIn,
  routingKeyOfCourse,
  watchCourse,
} from "../support/consume/watched-course.ts";
import { expectNothingOfBodies, expectRedacted, expectSameMessage } from "../support/consume/watched-secrets.ts";
import { expectTraces } from "../support/consume/watched-traces.ts";
import { until } from "../support/deployed-system.ts";
import { region } from "../support/sqs/clients.ts";
import { consuming, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { attributes, deploy, textsOf } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { startRecordingProxy } from "../support/sqs/recording-proxy.ts";
import { registerGlobals } from "../support/telemetry.ts";

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "constant", delay: "1s", jitter: "50%" } },
  handlerTimeout: "5s",
};
const lettered = (name: string, texts: CourseLetter["texts"]): CourseLetter => ({ name, texts, headers: texts });

beforeAll(registerGlobals);

describe.concurrent.each(sqsEmulators())("a watched consumer on $name $version", (emulator) => {
  for (const [strategy, delay] of [
    ["visibility", "2s"],
    // The visibility timeout is the delay and the handler's time. A slow machine settles within it.
    ["redrive", "5s"],
  ] as const)
    test(`attempts and dead letters are in one trace, every metric counts, and no telemetry has a body: ${strategy}`, async () => {
      const retry = { attempts: attemptsOfCourse, backoff: { kind: "constant", delay } };
      const declared = { ...billing, retry, handlerTimeout: handlerTimeoutOfCourse };
      await using system = await deploy(emulator, { billing: declared }, strategy);
      const letters = new Map<string, CourseLetter>();
      const watched = await watchCourse({
        contract: system.contract("billing"),
        publish: async (messages) => {
          for (const { body, headers } of messages)
            await system.lab.send(system.work("billing"), body, {
              MessageAttributes: attributes({
                "routing-key": routingKeyOfCourse,
                ...(headers as Record<string, string>),
              }),
            });
        },
        consume: async (handler, options) =>
          consuming(system, "billing", handler as unknown as Handle, options as object),
        letters: async () => {
          const received = await system.lab.receive(system.dead("billing"), { max: 10 });
          for (const { Body = "", MessageAttributes } of received)
            letters.set(nameIn(Body), lettered(nameIn(Body), textsOf(MessageAttributes)));
          return [...letters.values()];
        },
      });
      expectMetrics(expect, watched);
      expectTraces(expect, watched);
      expectNothingOfBodies(expect, watched);
      expectRedacted(expect, watched);
      expectSameMessage(expect, watched);
    });

  test("the log never has a part of a body, with any failure, even if an error hides it", async () => {
    const secret = "eve@example.com";
    const shown = (value: unknown): string => inspect(value, { depth: null, showHidden: true, getters: true });
    const hidden = Object.defineProperty(new Error("no", { cause: { told: [new Error(secret)] } }), "x", {});
    expect(shown([{ error: hidden }]), "what JSON leaves out would be seen").toContain(secret);
    await using system = await deploy(emulator, { billing });
    await using proxy = await startRecordingProxy(emulator.endpoint);
    const met = new Map<string, number>();
    await using consumer = await consuming(
      system,
      "billing",
      ({ headers }) => {
        if (headers["fails"] !== undefined) throw new Error("the bank is down");
      },
      { endpoint: proxy.endpoint, body: "json", schema: z.object({ id: z.string().max(20) }) as never },
    );
    proxy.decide(({ operation }) => {
      const count = (met.get(operation) ?? 0) + 1;
      met.set(operation, count);
      // The proxy refuses each kind of settlement once, and cuts it off once.
      if (operation.startsWith("Get") || operation === "ReceiveMessage" || count > 2) return "pass";
      return count === 1 ? { error: "InternalError", status: 500 } : "cut-call";
    });
    const bodies = [`{ "id": ${secret}`, `{ "id": ["${secret}"] }`, `{ "id": "${secret}, and longer" }`];
    for (const body of bodies) await system.lab.send(system.work("billing"), body);
    const fails = { MessageAttributes: attributes({ fails: "yes" }) };
    await system.lab.send(system.work("billing"), `{ "id": "${secret}" }`, fails);
    await untilCount(system, "dead", "billing", 4);
    await untilCount(system, "work", "billing", 0);
    const kinds = (kind: string) => consumer.events.filter((event) => event.kind === kind);
    await until(30_000, () => kinds("settled").length >= 5);
    // Refused and cut off: SendMessage, DeleteMessage and ChangeMessageVisibility.
    expect(kinds("settle-failed").length).toBeGreaterThanOrEqual(6);
    expect(shown(consumer.events)).not.toContain(secret);
  });

  test("the example charges each order once, waits as long as the API asks, and gives up as its page says", async () => {
    const retryAfter = { attempts: 4, backoff: { kind: "constant", delay: "1s" }, retryAfter: { max: "1m" } };
    await using system = await deploy(emulator, { billing: { ...billing, retry: retryAfter } });
    const charged: string[] = [];
    let refusals = 0;
    const charge: Charge = async ({ id }) => {
      if (id === "nobody's") return "unknown customer";
      if (id === "busy" && refusals++ === 0) return "too many requests";
      charged.push(id);
      return "charged";
    };
    const connection = {
      endpoint: emulator.endpoint,
      region,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    };
    const running = await runBilling(system.declared, connection, createMemoryStore(), charge);
    await using ends = new AsyncDisposableStack();
    ends.defer(async () => running.stop());
    for (const id of ["one", "one", "busy", "nobody's"])
      await system.lab.send(system.work("billing"), JSON.stringify({ id }));
    await untilCount(system, "work", "billing", 0);
    expect(charged.toSorted()).toEqual(["busy", "one"]);
    const letter = await system.lab.receiveWithin(system.dead("billing"), 30_000);
    expect(textsOf(letter?.MessageAttributes)["dlq-failure-reason"]).toBe("UNKNOWN_CUSTOMER");
  });

  test("a guarded handler runs once for several copies of one message, even at the same time", async () => {
    await using system = await deploy(emulator, { billing: { ...billing, retry: { ...billing.retry, attempts: 5 } } });
    const runs: string[] = [];
    const guarded = once<string>(
      {
        store: createMemoryStore(),
        consumer: "billing",
        expires: "1m",
        keep: "1h",
        key: ({ headers }) => String(headers["order"]),
      },
      async ({ body }) => {
        runs.push(body);
        await new Promise((resolve) => setTimeout(resolve, 200));
      },
    );
    await using _ = await consuming(system, "billing", guarded);
    const sending = Array.from({ length: 6 }, (_, index) =>
      system.lab.send(system.work("billing"), `order ${index % 2}`, {
        MessageAttributes: attributes({ order: `${index % 2}` }),
      }),
    );
    await Promise.all(sending);
    await untilCount(system, "work", "billing", 0);
    expect(runs.toSorted()).toEqual(["order 0", "order 1"]);
    expect(await system.lab.count(system.dead("billing"))).toBe(0);
  });
});
