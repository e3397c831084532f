import { describe, expect, test, type TestContext } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { type AmqpProxy, startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import { type ConsumedSystem, consumeFrom } from "../support/consume/consumed.ts";
import { start } from "../support/consume/start.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { closedPort } from "../support/fake-broker.ts";
import { strategyCases } from "../support/live.ts";
import { oneForEachProtocol } from "../support/strategies.ts";

const cases = strategyCases(oneForEachProtocol);

describe.concurrent.each(cases)("a URL for each node: $name", ({ broker, strategy }) => {
  const declaration = billingUnder(strategy);
  /** Copies use a second connection. */
  const connections = strategy === "waits" ? 2 : 1;

  /** Starts several proxies to one broker. The consumer takes each for a node. */
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
    const billing = await consumeFrom({ ...system, options: { connection: { url } } }, () => undefined);
    onTestFinished(() => billing.running.stop("1s"));
    return billing;
  };

  test("its node stops and the next one refuses it: the consumer gets messages from the third one at once", async (context) => {
    const { system, nodes, urls } = await deployed(context, 3);
    const billing = await consuming(context, system, urls);
    await system.publish(["a"]);
    await until(30_000, () => billing.count("settled") === 1);
    // The connections of the comparison at the start have closed.
    await until(30_000, () => nodes.reduce((sum, node) => sum + node.connections(), 0) === connections);
    const [one, ...others] = nodes.toSorted((first, second) => second.connections() - first.connections());
    // The consumer may try either of the other two first.
    for (const node of [one, others[0]]) if (node !== undefined) node.refuses = true;
    one?.cutAll();
    await until(30_000, () => billing.count("reconnected") === 1);
    await system.publish(["b"]);
    // If the cut took the first acknowledgement, its message comes again.
    await until(30_000, () => billing.runsOf("b").length === 1);
    expect(billing.count("lost")).toBe(1);
    expect(billing.count("reconnect-failed")).toBe(0);
    expect(others[1]?.connections()).toBe(connections);
  });

  test("with only a message that waits for its retry, the consumer stays with its node", async (context) => {
    const waiting = billingUnder(strategy, { retry: { attempts: 2, backoff: { kind: "constant", delay: "16s" } } });
    const system = await deploy(broker, waiting, strategy);
    context.onTestFinished(() => system.dispose());
    const url = [system.url, system.url.replace("127.0.0.1", "localhost")];
    const options = { connection: { url } };
    const billing = await consumeFrom({ ...system, options }, ({ attempt }) => {
      if (attempt === 1) throw new Error("not yet");
    });
    context.onTestFinished(() => billing.running.stop("1s"));
    await system.publish(["a"]);
    // By then the consumer would have left a node that was cut off.
    await until(60_000, () => billing.count("settled") === 2);
    expect(billing.count("lost")).toBe(0);
  });

  test("all nodes refuse: at a start the error has each reason, and a running consumer counts one failed try", async (context) => {
    const { system, nodes, urls } = await deployed(context, 2);
    const away = new URL(system.url);
    away.port = String(await closedPort());
    const wrong = new URL(system.url);
    wrong.password = "hush";
    const refused = await start(system, { connection: { url: [away.href, wrong.href] } });
    expect(refused.codes.toSorted()).toEqual(["RD804", "RD807"]);
    expect(refused.text).toContain(`there is no connection to the broker at ${away.host} (ECONNREFUSED)`);
    expect(refused.text).not.toContain("hush");
    const billing = await consuming(context, system, urls);
    for (const node of nodes) node.refuses = true;
    for (const node of nodes) node.cutAll();
    await until(30_000, () => billing.count("reconnect-failed") >= 2);
    const failures = billing.events.flatMap((event) => (event.kind === "reconnect-failed" ? [event.error] : []));
    for (const error of failures) {
      expect(String(error)).toContain("NoNodeError: no node lets the client in: 127.0.0.1:");
      // Checks the error as a logger would serialise it, too.
      expect(JSON.stringify(error)).not.toContain("guest");
    }
    for (const node of nodes) node.refuses = false;
    await until(30_000, () => billing.count("reconnected") === 1);
  });

  test("a stop while a node is silent: the consumer tries no other node", async (context) => {
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
