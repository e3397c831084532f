import { afterAll, beforeAll, describe, test } from "vitest";

import { springClientsFolder } from "../../scripts/java-clients.mjs";
import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
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

// The snippet for Spring AMQP, as it stands on the page, on every broker of this run with every strategy of AMQP 0-9-1 that it has; all
// in one process, since Java and Spring take seconds to begin.
const cases = snippetCases().map((each, index) => ({ ...each, java: `case${index}` }));

const bodyOf = (id: string, plan: Plan): string =>
  `${id}|${plan.map((ending) => (typeof ending === "number" ? ending * 1_000 : ending)).join(",")}`;

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
        page: renderContractPage(system.contract("billing")),
        settings: { "spring.rabbitmq.addresses": system.url },
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
    "keeps the contract, $name: attempts, delays, dead letters; a copy that is not taken loses nothing",
    async (each) => {
      const driven = drivenOf(each);
      await expectContractKept(driven);
      if (publishesPermanent(driven.system.contract("billing"))) await expectCopyRetried(driven);
    },
  );

  // After all others, since it ends the process.
  test("a shutdown costs nothing", async () => {
    const all = cases.map(drivenOf);
    await Promise.all(all.map(beginSlowly));
    await running?.terminate();
    for (const driven of all) await expectNothingLostByShutdown(driven);
  });
});
