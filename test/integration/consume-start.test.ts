import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsumeOptions } from "redeliver/consume";

import { billingUnder } from "../support/consume/billing-under.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { createVhost, strategyCases } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { withQueues, type Strategy } from "../support/strategies.ts";
import { type Start, start } from "../support/consume/start.ts";

function declaration(strategy: Strategy, attempts = 3): unknown {
  return billingUnder(strategy, { retry: { attempts, backoff: { kind: "constant", delay: "50ms" } } });
}

const cases = strategyCases((version) => [withQueues(version), ...(version === "4.3" ? (["deferred"] as const) : [])]);

describe.each(cases)("the checks of a starting consumer: $name", ({ broker, strategy }) => {
  let system: DeployedSystem;
  const user = `user-${randomUUID()}`;
  const management = createManagement(broker.managementUrl);
  beforeAll(async () => {
    system = await deploy(broker, declaration(strategy), strategy);
    await system.publish(["a"]);
    await management.put(`users/${user}`, { password: "secret", tags: "" });
  });
  afterAll(async () => {
    await management.delete(`users/${user}`);
    await system.dispose();
  });

  /** Returns the codes of the refusal, or none if the consumer started. */
  async function refusedWith(
    given: Partial<ConsumeOptions<"rabbitmq">> & { readonly attempts?: number } = {},
  ): Promise<Start> {
    const { attempts, ...options } = given;
    return start({ ...system, declaration: declaration(strategy, attempts) }, options);
  }

  /** The message is still there, and no consumer has received it. */
  async function expectUntouched(): Promise<void> {
    const message = await system.channel.get("shop.billing", { noAck: false });
    if (message === false) throw new Error("the message is gone");
    expect(message.fields.redelivered).toBe(false);
    expect(message.properties.messageId).toBe("a");
    system.channel.ack(message);
    await system.publish(["a"]);
  }

  const withUser = (password = "secret"): string => {
    const url = new URL(system.url);
    url.username = user;
    url.password = password;
    return url.href;
  };

  test("the deployed declaration differs: the refusal has both values, and no message was taken", async () => {
    const { codes, text } = await refusedWith({ attempts: 4 });
    expect(codes.filter((code) => !["RD805", "RD808", "RD810"].includes(code))).toEqual([]);
    expect(codes.length).toBeGreaterThan(0);
    expect(text).toMatch(
      {
        deferred: /delivery-limit: compiled is 3, deployed is 2/,
        staged: /shop\.attempt\.4\./,
        waits: /shop\.billing:attempt:4/,
      }[strategy],
    );
    await expectUntouched();
  });

  // `deferred` needs a broker of 4.3, so its target has no other version.
  test.runIf(strategy !== "deferred")("the broker has another version than the target", async () => {
    const version = broker.version === "3.10" ? "4.0" : "3.10";
    const { codes, text } = await refusedWith({ target: { broker: "rabbitmq", version, strategy: "waits" } });
    expect(codes).toEqual(["RD806"]);
    expect(text).toContain(`the broker is RabbitMQ ${broker.fullVersion}`);
    await expectUntouched();
  });

  test("the virtual host holds no deployment", async () => {
    const empty = await createVhost(broker);
    const { codes, text } = await refusedWith({ connection: { url: empty.amqpUrl } });
    expect(codes[0]).toBe("RD805");
    expect(text).toContain("there is no queue shop.billing in this virtual host");
    await empty.dispose();
  });

  test("no answer, a wrong password, no permission in the virtual host", async () => {
    expect((await refusedWith({ connection: { url: "amqp://guest:hush@127.0.0.1:1" } })).codes).toEqual(["RD804"]);
    const wrong = await refusedWith({ connection: { url: withUser("hush") } });
    expect(wrong.codes).toEqual(["RD807"]);
    expect(wrong.text).toContain(`does not know the user ${user}, or the password is another`);
    expect(wrong.text).not.toContain("hush");
    const outside = await refusedWith({ connection: { url: withUser() } });
    expect(outside.codes).toEqual(["RD807"]);
    expect(outside.text).toContain(`does not let the user ${user} into the virtual host ${system.vhost}`);
    await expectUntouched();
  });

  test("no permission to read the work queue is refused; with that alone it runs, and logs the values that it could not compare", async () => {
    const permissions = `permissions/${encodeURIComponent(system.vhost)}/${user}`;
    await management.put(permissions, { configure: "^$", write: ".*", read: "^nothing$" });
    const unread = await refusedWith({ connection: { url: withUser() } });
    expect(unread.codes).toEqual(["RD807"]);
    expect(unread.text).toContain(
      `the user ${user} may not read from the queue shop.billing in the virtual host ${system.vhost}`,
    );
    await expectUntouched();
    await management.put(permissions, { configure: "^$", write: ".*", read: "^shop\\.billing$" });
    const billing = await consumeFrom(
      { ...system, url: withUser(), options: { connection: { url: withUser() } } },
      () => undefined,
    );
    await until(30_000, () => billing.runs.length === 1);
    await billing.running.stop();
    expect(billing.kinds()).toContain("not-compared");
    await system.publish(["a"]);
  });
});

describe.each(cases)("an outage: $name", ({ broker, strategy }) => {
  test("the consumer pauses after failures, tries single messages, and goes on when one succeeds", async () => {
    const outage = { ...(declaration(strategy, 10) as object) };
    const system = await deploy(broker, outage, strategy);
    let isDown = true;
    const billing = await consumeFrom(
      { ...system, options: { concurrency: 4, breaker: { failures: 5, firstPause: "300ms", longestPause: "600ms" } } },
      () => {
        if (isDown) throw new Error("the database is away");
      },
    );
    const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
    await system.publish(ids);
    const pauses = (): readonly number[] =>
      billing.events.flatMap((event) => (event.kind === "paused" ? [event.forMs] : []));
    await until(30_000, () => pauses().length >= 3);
    expect(pauses().slice(0, 3)).toEqual([300, 600, 600]);
    // The failures that opened the breaker, the attempts that ran with them, and up to three after each pause.
    expect(billing.runs.length).toBeLessThanOrEqual(5 + 3 + 3 * pauses().length);
    isDown = false;
    await until(
      60_000,
      () =>
        new Set(
          billing.events.flatMap((event) =>
            event.kind === "settled" && event.outcome === "success" ? [event.messageId] : [],
          ),
        ).size === ids.length,
    );
    expect(billing.kinds()).toContain("resumed");
    expect(billing.running.health()).toMatchObject({ state: "running", isTaking: true, suspicion: 0 });
    await billing.running.stop();
    expect(await system.drain("shop.billing.dead")).toEqual([]);
    await system.dispose();
  });
});

test.each(cases)("a silent broker does not delay a stop: $name", async ({ broker, strategy }) => {
  const system = await deploy(broker, declaration(strategy), strategy);
  const proxy = await startAmqpProxy(system.url);
  const billing = await consumeFrom({ ...system, url: proxy.url }, () => undefined);
  proxy.isSilent = true;
  const startedAt = performance.now();
  await billing.running.stop("500ms");
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(billing.running.health().state).toBe("stopped");
  await proxy.close();
  await system.dispose();
});

test.concurrent.each(cases)("a heartbeat in the URL decides when a silent broker is noticed: $name", async (given) => {
  const { broker, strategy } = given;
  const system = await deploy(broker, declaration(strategy), strategy);
  const proxy = await startAmqpProxy(system.url);
  const billing = await consumeFrom({ ...system, url: `${proxy.url}?heartbeat=3` }, () => undefined);
  proxy.isSilent = true;
  // Through heartbeats it would take the consumer a minute to notice.
  await until(45_000, () => billing.count("lost") > 0);
  await billing.running.stop("500ms");
  await proxy.close();
  await system.dispose();
});
