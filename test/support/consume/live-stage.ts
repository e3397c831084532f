import { type ChildProcess, spawn } from "node:child_process";

import { afterAll } from "vitest";

import { deploy, type DeployedSystem } from "../deployed-system.ts";
import type { Broker } from "../live.ts";
import { type AmqpProxy, startAmqpProxy } from "./amqp-proxy.ts";
import { type ConsumedSystem, consumeFrom } from "./consumed.ts";

interface LiveStage {
  readonly deployed: (...given: Deployed) => Promise<DeployedSystem>;
  /** A deployed system, and a proxy in front of its broker. */
  readonly proxied: (...given: Deployed) => Promise<{ readonly system: DeployedSystem; readonly proxy: AmqpProxy }>;
  readonly consumed: typeof consumeFrom;
  /** A script in a process of its own, and the lines of its output. */
  readonly spawned: (script: string, input: object) => { readonly child: ChildProcess; readonly lines: string[] };
}

type Deployed = Parameters<typeof deploy> extends [Broker, ...infer Rest] ? Rest : never;

/**
 * Everything that the tests of one suite start on a broker. It ends with them: first consumers, then their connections.
 */
export function liveStage(broker: Broker): LiveStage {
  const systems: DeployedSystem[] = [];
  const proxies: AmqpProxy[] = [];
  const consumers: ConsumedSystem[] = [];
  const children: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(consumers.map(({ running }) => running.stop("1s")));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all(systems.map((system) => system.dispose()));
  });
  const deployed: LiveStage["deployed"] = async (...given) => {
    const system = await deploy(broker, ...given);
    systems.push(system);
    return system;
  };
  return {
    deployed,
    proxied: async (...given) => {
      const system = await deployed(...given);
      const proxy = await startAmqpProxy(system.url);
      proxies.push(proxy);
      return { system, proxy };
    },
    consumed: async (...given) => {
      const consumer = await consumeFrom(...given);
      consumers.push(consumer);
      return consumer;
    },
    spawned: (script, input) => {
      const child = spawn(process.execPath, [script, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
      children.push(child);
      const lines: string[] = [];
      child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.split("\n").filter(Boolean)));
      return { child, lines };
    },
  };
}
