import { expect, onTestFinished, test } from "vitest";

import { permanent } from "../../src/consume/index.ts";
import { until } from "../support/deployed-system.ts";
import { deployConsumed } from "../support/servicebus/consuming.ts";
import { redriveWithWords } from "../support/told-redrive.ts";

test("on Service Bus the library goes on at the consumer's word", async () => {
  const system = await deployConsumed(onTestFinished, { retry: { attempts: 2, backoff: { kind: "immediate" } } });
  const { deadQueue } = system.contract("billing");
  const failing = await system.consuming(() => {
    throw permanent("no address");
  });
  for (let index = 0; index < 111; index++)
    await system.publish({ messageId: `m${index}`, subject: "order.placed", body: "x" });
  await until(60_000, async () => (await system.peek(deadQueue)).length === 111);
  await failing.stop();
  const { declared, options } = system;
  process.env["SERVICEBUS_CONNECTION_STRING"] = system.lab.emulator.connectionString;
  await redriveWithWords({ system: declared, consumer: "billing", target: options.target }, (log) =>
    system.consuming(() => undefined, { log }),
  );
  expect(await system.peek(deadQueue)).toEqual([]);
});
