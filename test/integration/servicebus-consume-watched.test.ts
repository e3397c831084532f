import { waitUntil } from "@redeliver/servicebus-emulator";
import { describeDeadLetter, permanent } from "redeliver/consume";
import { beforeAll, describe, expect, test } from "vitest";

import {
  attemptsOfCourse,
  expectMetrics,
  handlerTimeoutOfCourse,
  routingKeyOfCourse,
  watchCourse,
} from "../support/consume/watched-course.ts";
import { expectNothingOfBodies, expectRedacted, expectSameMessage } from "../support/consume/watched-secrets.ts";
import { expectTraces } from "../support/consume/watched-traces.ts";
import { deployConsumed, type Handle } from "../support/servicebus/consuming.ts";
import { registerGlobals } from "../support/telemetry.ts";

const constant = { kind: "constant", delay: "200ms" } as const;
/**
 * The copy carries a time to live for its delay. The consumer must receive it before that time has passed once more.
 */
const slow = { kind: "constant", delay: "10s" } as const;
const backoffs = { scheduled: constant, immediate: { kind: "immediate" }, "ttl-tier": slow } as const;
const messageOf = (body: string) => ({ body: Buffer.from(body), messageId: body, subject: routingKeyOfCourse });

beforeAll(registerGlobals);

describe.concurrent("a watched consumer on Service Bus", () => {
  for (const strategy of ["scheduled", "immediate", "ttl-tier"] as const)
    test(`${strategy}: attempts and dead letters are in one trace, every metric counts, and no telemetry has a body`, async (context) => {
      const retry = { attempts: attemptsOfCourse, backoff: backoffs[strategy] };
      const declared = { retry, handlerTimeout: handlerTimeoutOfCourse };
      const system = await deployConsumed(context.onTestFinished, declared, { strategy });
      const watched = await watchCourse({
        contract: system.contract("billing"),
        publish: async (messages) =>
          system.publish(
            ...messages.map(({ name, body, headers }) => ({
              body: Buffer.from(body),
              messageId: name,
              subject: routingKeyOfCourse,
              applicationProperties: { ...(headers as Record<string, string>) },
            })),
          ),
        consume: async (handler, options) => system.consuming(handler as unknown as Handle, options as object),
        letters: async () =>
          (await system.letters("billing")).map(({ messageId, applicationProperties: texts = {} }) => ({
            name: String(texts["redeliver-original-id"] ?? messageId),
            texts,
            headers: texts,
          })),
      });
      expectMetrics(expect, watched);
      expectTraces(expect, watched);
      expectNothingOfBodies(expect, watched);
      expectRedacted(expect, watched);
      expectSameMessage(expect, watched);
      const [first, second] = watched.runs.filter(({ name }) => name === "fails");
      const waitedMs = (second?.beganAtMs ?? 0) - (first?.beganAtMs ?? Infinity);
      expect(waitedMs).toBeGreaterThanOrEqual(strategy === "immediate" ? 0 : strategy === "scheduled" ? 200 : 10_000);
    });
});

describe.concurrent("consume on Service Bus with one shared dead queue", () => {
  test("dead letters there show their original queue, and the reason", async ({ onTestFinished }) => {
    const retry = { attempts: 2, backoff: { kind: "immediate" } };
    const system = await deployConsumed(onTestFinished, { retry }, { deadQueue: "shared" });
    const consumer = await system.consuming(({ body }) => {
      if (body === "dies") throw permanent("UNKNOWN_CUSTOMER");
      throw new Error("not yet");
    });
    const { deadQueue } = system.contract("billing");
    expect(deadQueue).toBe("shop.dead");
    await system.publish(messageOf("dies"), messageOf("fails"));
    await waitUntil(async () => (await system.lab.peek(deadQueue)).length === 2);
    await consumer.stop();
    const said = (await system.lab.peek(deadQueue)).map((letter) => [
      letter.messageId,
      letter.deadLetterSource,
      describeDeadLetter(letter, system.contract("billing"))["dlq-failure-reason"],
      describeDeadLetter(letter, system.contract("billing"))["dlq-original-queue"],
    ]);
    expect(said.toSorted()).toEqual([
      ["dies", "shop.billing", "UNKNOWN_CUSTOMER", "shop.billing"],
      ["fails", "shop.billing", "ATTEMPTS_EXHAUSTED", "shop.billing"],
    ]);
  });
});
