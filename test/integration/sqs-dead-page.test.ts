import { describe } from "vitest";

import { consume } from "../../src/consume/index.ts";
import { consumers, type Finished, type PageStage } from "../support/dead-page.ts";
import { runPage } from "../support/dead-page-course.ts";
import { region } from "../support/sqs/clients.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

async function open(emulator: SqsEmulator, finished: Finished): Promise<PageStage> {
  const { declared, target, lab, work, dead, applied, contract, dispose } = await deploy(emulator, consumers);
  finished(dispose);
  const { endpoint } = emulator;
  const parked = applied.queues.get(String(contract("billing").parkedQueue));
  if (parked === undefined) throw new Error("no queue for parked letters");
  const queues = { work: work("billing"), dead: dead("billing"), parked };
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return {
    broker: "sqs",
    declaration: declared,
    replaced: {
      "eu-west-1": region,
      // The option replaces the endpoint of the environment, where nobody answers.
      "redeliver dead groups --queue": "AWS_ENDPOINT_URL=http://127.0.0.1:9 redeliver dead groups --queue",
      "http://localhost:4566": endpoint,
      "shop-billing-dead": queues.dead.name,
    },
    environment: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
    publish: async (bodies) => {
      for (const body of bodies) await lab.send(queues.work, JSON.stringify(body));
    },
    consume: async (handler, log) =>
      consume(declared, "billing", { target, connection: { endpoint, region, credentials }, log }, handler),
    count: async (queue) => lab.count(queues[queue]),
  };
}

/** moto takes four minutes to receive 312 letters so often. */
const isFast = ({ name }: SqsEmulator): boolean => name !== "moto";

describe.for(sqsEmulators().filter(isFast))("on $name", (emulator) =>
  runPage("sqs", async (finished) => open(emulator, finished)),
);
