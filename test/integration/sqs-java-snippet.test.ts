import { afterAll, beforeAll, describe, test } from "vitest";

import { springCloudAwsFolder } from "../../scripts/java-clients.mjs";
import { pageOf } from "../support/contract-page.ts";
import type { RunningJava } from "../support/java-process.ts";
import { runSpringSnippets } from "../support/java-snippets.ts";
import { region } from "../support/sqs/clients.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import {
  beginSlowly,
  declarations,
  type Driven,
  expectContractKept,
  expectNothingLostByShutdown,
} from "../support/sqs/snippet-course.ts";

// The snippet for Spring Cloud AWS from the page, on each emulator. All cases run in one process, because Java and
// Spring take seconds to start.
const cases = sqsEmulators().flatMap((emulator) =>
  (["billing", "ledger"] as const).map((consumer) => ({ emulator, consumer, name: `${consumer} on ${emulator.name}` })),
);

const bodyOf: Driven["bodyOf"] = (id, plan) =>
  `${id}|${plan.map((ending) => (typeof ending === "number" ? ending * 1_000 : ending)).join(",")}`;

describe("the snippet for Spring Cloud AWS", () => {
  const systems: DeployedSystem[] = [];
  let running: RunningJava | null = null;

  beforeAll(async () => {
    for (const { emulator, consumer } of cases)
      systems.push(await deploy(emulator, { [consumer]: declarations[consumer] }));
    const pages = cases.map(({ emulator, consumer }, index) => ({
      name: `case${index}`,
      page: pageOf((systems[index] as DeployedSystem).contract(consumer)),
      settings: {
        "spring.cloud.aws.endpoint": emulator.endpoint,
        "spring.cloud.aws.region.static": region,
        "spring.cloud.aws.credentials.access-key": "test",
        "spring.cloud.aws.credentials.secret-key": "test",
      },
    }));
    running = await runSpringSnippets(springCloudAwsFolder, pages);
  }, 120_000);
  afterAll(async () => {
    await running?.stop();
    await Promise.all(systems.map(async (system) => system.dispose()));
  });

  const drivenOf = (each: (typeof cases)[number]): Driven => {
    const index = cases.indexOf(each);
    const [system, process] = [systems[index], running];
    if (system === undefined || process === null) throw new Error(`${each.name} does not run`);
    return { system, consumer: each.consumer, bodyOf, runs: () => process.runsOf(`case${index}`), log: process.log };
  };

  test.concurrent.for(cases)("keeps the contract of $name", async (each) => expectContractKept(drivenOf(each)));

  // Runs last, because it ends the process.
  test("a shutdown costs nothing", async () => {
    const all = cases.map(drivenOf);
    await Promise.all(all.map(beginSlowly));
    await running?.terminate();
    for (const driven of all) await expectNothingLostByShutdown(driven);
  });
});
