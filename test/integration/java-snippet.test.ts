import { afterAll, beforeAll, describe, test } from "vitest";

import { springClientsFolder } from "../../scripts/java-clients.mjs";
import { pageOf } from "../support/contract-page.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import type { RunningJava } from "../support/java-process.ts";
import { runSpringSnippets } from "../support/java-snippets.ts";
import {
  beginSlowly,
  deployForSnippet,
  expectContractKept,
  expectCopyRetried,
  expectNothingLostByShutdown,
  type Plan,
  publishesPermanent,
  snippetCases,
} from "../support/snippet-course.ts";

// The snippet for Spring AMQP from the page, on every broker of this run, with every strategy of AMQP 0-9-1. All cases
// run in one process, because Java and Spring take seconds to start.
const cases = snippetCases().map((each, index) => ({ ...each, java: `case${index}` }));

const bodyOf = (id: string, plan: Plan): string =>
  `${id}|${plan.map((ending) => (typeof ending === "number" ? ending * 1_000 : ending)).join(",")}`;

/**
 * Spring drops a message that the broker delivers while Spring cancels the consumer, and that counts as a crash. It
 * closes its applications one after the other, so a handler that is slow for a fixed time can end at that moment. This
 * one ends after the cancel: Spring keeps a consumer in a private field until the broker has confirmed it. Source: the
 * loop of `SimpleMessageListenerContainer`, which may end with a delivery on its way, and `BlockingQueueConsumer.stop`.
 */
const slow = `
                    var consumers = org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer.class.getDeclaredField("consumers");
                    consumers.setAccessible(true);
                    var registry = context.getBean(org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry.class);
                    for (Object container : registry.getListenerContainers())
                        while (consumers.get(container) instanceof java.util.Set<?> running && !running.isEmpty()) Thread.sleep(20);
                `;

describe("the snippet for Spring AMQP", () => {
  const systems = new Map<string, DeployedSystem>();
  let running: RunningJava | null = null;

  beforeAll(async () => {
    await Promise.all(cases.map(async (each) => systems.set(each.name, await deployForSnippet(each))));
    const pages = cases.map(({ java, name }) => {
      const system = systems.get(name);
      if (system === undefined) throw new Error(`${name} is not deployed`);
      return {
        name: java,
        page: pageOf(system.contract("billing")),
        settings: { "spring.rabbitmq.addresses": system.url },
        slow,
      };
    });
    running = await runSpringSnippets(springClientsFolder, pages);
  });
  afterAll(async () => {
    await running?.stop();
    await Promise.all([...systems.values()].map(async (system) => system.dispose()));
  });

  const drivenOf = ({ name, java }: (typeof cases)[number]) => {
    const [system, process] = [systems.get(name), running];
    if (system === undefined || process === null) throw new Error(`${name} does not run`);
    return { system, bodyOf, runs: () => process.runsOf(java), log: process.log };
  };

  test.concurrent.for(cases)(
    "keeps the contract, $name: attempts, delays, dead letters; a refused copy loses no message",
    async (each) => {
      const driven = drivenOf(each);
      await expectContractKept(driven);
      if (publishesPermanent(driven.system.contract("billing"))) await expectCopyRetried(driven);
    },
  );

  // Runs last, because it ends the process.
  test("a shutdown costs no attempt", async () => {
    const all = cases.map(drivenOf);
    await Promise.all(all.map(beginSlowly));
    await running?.terminate();
    for (const driven of all) await expectNothingLostByShutdown(driven);
  });
});
