import { beforeAll, describe, expect, test } from "vitest";
import { createMemoryStore, type Message, once } from "redeliver/consume";

import { consumeFrom } from "../support/consume/consumed.ts";
import {
  attemptsOfCourse,
  type CourseLetter,
  type CourseMessage,
  expectMetrics,
  handlerTimeoutOfCourse,
  nameIn,
  routingKeyOfCourse,
  watchCourse,
} from "../support/consume/watched-course.ts";
import { expectNothingOfBodies, expectRedacted, expectSameMessage } from "../support/consume/watched-secrets.ts";
import { expectTraces } from "../support/consume/watched-traces.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { registerGlobals } from "../support/telemetry.ts";
import { strategiesOn } from "../support/strategies.ts";
import { oneConsumer } from "../support/examples.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases(strategiesOn);
const declarationFor = (strategy: string, attempts: number): object =>
  oneConsumer({
    from: { orders: "all" },
    retry: { attempts, backoff: { kind: "constant", delay: "200ms" } },
    handlerTimeout: handlerTimeoutOfCourse,
    ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
  });

/** Publishes messages, some of them more than once. */
async function publish({ channel }: DeployedSystem, messages: readonly CourseMessage[]): Promise<void> {
  for (const { name, body, headers } of messages)
    channel.publish("shop.orders", routingKeyOfCourse, Buffer.from(body), {
      messageId: name,
      headers,
      persistent: true,
      timestamp: Math.floor(Date.now() / 1_000),
    });
  await channel.waitForConfirms();
}

/** Headers under the names of a consumer's options. An AMQP 1.0 consumer writes them as annotations. */
function headersIn(headers: unknown): Pick<CourseLetter, "texts" | "headers"> {
  const shown = (headers ?? {}) as CourseLetter["headers"];
  const named = Object.entries(shown).map(([name, value]) => [name.replace(/^x-opt-/, ""), value] as const);
  return { headers: shown, texts: Object.fromEntries(named) };
}

beforeAll(registerGlobals);

describe.concurrent.each(cases)("a watched consumer: $name", ({ broker, strategy }) => {
  test("attempts and dead letters are in one trace, every metric counts, and no telemetry has a body", async () => {
    const declaration = declarationFor(strategy, attemptsOfCourse);
    await using system = await deploy(broker, declaration, strategy);
    const contract = system.contract("billing");
    const letters: CourseLetter[] = [];
    const watched = await watchCourse({
      contract,
      publish: async (messages) => publish(system, messages),
      consume: async (handler, options) => {
        const { events, running } = await consumeFrom({ ...system, options }, (_, message, attempt) =>
          handler(message as Message<{ readonly id: string }>, attempt),
        );
        return { events, stop: running.stop };
      },
      letters: async () => {
        for (const { content, properties } of await system.drain(contract.deadQueue ?? ""))
          letters.push({ name: nameIn(content.toString()), ...headersIn(properties.headers) });
        return letters;
      },
    });
    expectMetrics(expect, watched);
    expectTraces(expect, watched);
    expectNothingOfBodies(expect, watched);
    expectRedacted(expect, watched);
    expectSameMessage(expect, watched);
  });

  test("a guarded handler runs once for a message that is published several times", async () => {
    // If a copy comes while the first one is being handled, it spends attempts until that handler ends.
    const declaration = declarationFor(strategy, 20);
    await using system = await deploy(broker, declaration, strategy);
    const contract = system.contract("billing");
    const ran: unknown[] = [];
    let ends = 0;
    const guarded = once(
      { store: createMemoryStore(), consumer: "billing", expires: "1m", keep: "1h" },
      async ({ id }) => {
        ran.push(id);
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    );
    await using _ = await consumeFrom({ ...system, options: { breaker: false } }, async (_, message, attempt) => {
      await guarded(message, attempt);
      ends++;
    });
    await publish(
      system,
      ["one", "two", "one", "one", "two"].map((name) => ({ name, body: "{}", headers: {} })),
    );
    await until(60_000, () => ends === 5);
    expect(ran.toSorted()).toEqual(["one", "two"]);
    expect((await system.channel.checkQueue(contract.deadQueue ?? "")).messageCount).toBe(0);
  });
});
