import { expect, test } from "vitest";

import { consuming } from "../support/sqs/consuming.ts";
import { fill, stage } from "../support/sqs/dead-stage.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { redriveWithWords } from "../support/told-redrive.ts";

test.for(sqsEmulators())("on $name the library goes on at the consumer's word", async (emulator) => {
  const system = await stage(emulator);
  await fill(system, 111);
  const { declared, target, lab } = system;
  const input = { system: declared, consumer: "billing", target, connection: { url: lab.emulator.endpoint } };
  await redriveWithWords(input, (log) => consuming(system, "billing", () => undefined, { log }));
  expect(await lab.count(system.dead("billing"))).toBe(0);
  expect(await lab.count(system.work("audit"))).toBe(0);
});
