import { afterAll, beforeAll, describe, test } from "vitest";

import { amqpClientFolder } from "../../scripts/java-clients.mjs";
import { filesOf, pageOf } from "../support/contract-page.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { runJava, type RunningJava } from "../support/java-process.ts";
import { handlerInJava } from "../support/java-snippets.ts";
import { brokers } from "../support/live.ts";
import {
  beginSlowly,
  deployForSnippet,
  expectContractKept,
  expectNothingLostByShutdown,
  type Plan,
} from "../support/snippet-course.ts";

// The snippet on the page for RabbitMQ's own client of AMQP 1.0. Its contract is one of RabbitMQ 4.3.

const bodyOf = (id: string, plan: Plan): string =>
  `${id}|${plan.map((ending) => (typeof ending === "number" ? ending * 1_000 : ending)).join(",")}`;

/** The program ends when the process that started it closes its standard input. */
const mainOf = (url: string): string => `import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class Main {
    static class ValidationError extends RuntimeException {}

    static String textOf(byte[] body) {
        return new String(body, java.nio.charset.StandardCharsets.UTF_8);
    }

    public static void main(String[] words) throws Exception {
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        Amqp10Consumer consumer = new Amqp10Consumer(${JSON.stringify(url)}, ${handlerInJava("deferred")});
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::close));
        System.in.read();
        System.exit(0);
    }
}
`;

const cases = brokers().filter(({ version }) => version === "4.3");

describe.each(cases)("the snippet for RabbitMQ's AMQP 1.0 client for Java, on $version", (broker) => {
  let system: DeployedSystem | null = null;
  let running: RunningJava | null = null;

  beforeAll(async () => {
    system = await deployForSnippet({ broker, strategy: "deferred", name: "deferred" });
    const page = pageOf(system.contract("billing"));
    running = await runJava(amqpClientFolder, new Map([["Main.java", mainOf(system.url)], ...filesOf(page, ".java")]));
  });
  afterAll(async () => {
    await running?.stop();
    await system?.dispose();
  });

  test("keeps the contract: attempts, delays, dead letters with their reason; a shutdown costs no attempt", async () => {
    const [process, deployed] = [running, system];
    if (process === null || deployed === null) throw new Error("it does not run");
    const driven = { system: deployed, bodyOf, runs: () => process.runsOf("deferred"), log: process.log };
    await expectContractKept(driven);
    await beginSlowly(driven);
    await process.terminate();
    await expectNothingLostByShutdown(driven);
  });
});
