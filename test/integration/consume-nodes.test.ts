import { describe, expect, test } from "vitest";
import type { TestContext } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import type { AmqpProxy } from "../support/consume/amqp-proxy.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { ConsumedSystem } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { start } from "../support/consume/start.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { closedPort } from "../support/fake-broker.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const strategies = ["waits", "deferred"] as const;
const cases = brokers().flatMap((broker) =>
  strategies
    .filter((strategy) => strategy === "waits" || broker.version === "4.3")
    .map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
);

describe.concurrent.each(cases)("a URL for each node: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);
  const input = { broker, declaration, consumer: "billing", strategy } as const;

  /** Each way to the broker is a node of its own to the consumer. */
  const deployed = async (
    { onTestFinished }: TestContext,
    count: number,
  ): Promise<{ system: DeployedSystem; nodes: readonly AmqpProxy[]; urls: readonly string[] }> => {
    const system = await deploy(broker, declaration, strategy);
    const nodes = await Promise.all(Array.from({ length: count }, () => startAmqpProxy(system.url)));
    onTestFinished(async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await system.dispose();
    });
    return { system, nodes, urls: nodes.map(({ url }) => url) };
  };

  const consuming = async (
    { onTestFinished }: TestContext,
    system: DeployedSystem,
    url: readonly string[],
  ): Promise<ConsumedSystem> => {
    const billing = await consumeFrom(system, { ...input, options: { connection: { url } } }, () => undefined);
    onTestFinished(() => billing.running.stop("1s"));
    return billing;
  };

  const count = ({ events }: ConsumedSystem, kind: string): number =>
    events.filter((event) => event.kind === kind).length;

  test("whatever node it is connected with goes, and the next one does not let it in: the third one gives the messages at once", async (context) => {
    const { system, nodes, urls } = await deployed(context, 3);
    const billing = await consuming(context, system, urls);
    await system.publish(["a"], source);
    await until(30_000, () => count(billing, "settled") === 1);
    // That of the comparison at the start is over.
    await until(30_000, () => nodes.reduce((sum, node) => sum + node.connections(), 0) === 1);
    const [one, ...others] = nodes.toSorted((first, second) => second.connections() - first.connections());
    // Nobody knows which of the others is tried first.
    for (const node of [one, others[0]]) if (node !== undefined) node.refuses = true;
    one?.cutAll();
    await until(30_000, () => count(billing, "reconnected") === 1);
    await system.publish(["b"], source);
    await until(30_000, () => count(billing, "settled") === 2);
    expect(count(billing, "lost")).toBe(1);
    expect(count(billing, "reconnect-failed")).toBe(0);
    expect(others[1]?.connections()).toBe(1);
  });

  test("none lets it in: what each of them said at the start, and one failed try when it ran before", async (context) => {
    const { system, nodes, urls } = await deployed(context, 2);
    const away = new URL(system.url);
    away.port = String(await closedPort());
    const wrong = new URL(system.url);
    wrong.password = "hush";
    const refused = await start(system, { ...input, options: { connection: { url: [away.href, wrong.href] } } });
    expect(refused.codes.toSorted()).toEqual(["RD804", "RD807"]);
    expect(refused.text).toContain(`there is no connection to the broker at ${away.host} (ECONNREFUSED)`);
    expect(refused.text).not.toContain("hush");
    const billing = await consuming(context, system, urls);
    for (const node of nodes) node.refuses = true;
    for (const node of nodes) node.cutAll();
    await until(30_000, () => count(billing, "reconnect-failed") >= 2);
    const failures = billing.events.flatMap((event) => (event.kind === "reconnect-failed" ? [event.error] : []));
    for (const error of failures) {
      expect(String(error)).toContain("NoNodeError: no node lets the client in: 127.0.0.1:");
      // Whatever a log makes of it.
      expect(JSON.stringify(error)).not.toContain("guest");
    }
    for (const node of nodes) node.refuses = false;
    await until(30_000, () => count(billing, "reconnected") === 1);
  });

  test("stopped while a node says nothing: the others are not tried any more", async (context) => {
    const { system, nodes, urls } = await deployed(context, 2);
    const billing = await consuming(context, system, urls);
    for (const node of nodes) node.passes = 0;
    for (const node of nodes) node.cutAll();
    const held = (): number => nodes.reduce((sum, node) => sum + node.held, 0);
    await until(30_000, () => held() === 1);
    await billing.running.stop("500ms");
    await until(30_000, () => nodes.every((node) => node.connections() === 0));
    expect(held()).toBe(1);
  });
});
