import { waitUntil } from "@redeliver/servicebus-emulator";
import { expect, test } from "vitest";

import { runBilling } from "../../examples/consume-on-servicebus.ts";
import { deployConsumed } from "../support/servicebus/consuming.ts";

test("the example of docs/consuming-servicebus.md charges, and gives up on an unknown customer", async (context) => {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
  // The example names no lock, so the deployed lock is the target's default.
  const system = await deployConsumed(context.onTestFinished, { retry }, { lock: "1m" });
  const charged: string[] = [];
  const running = await runBilling(system.declared, system.options.connection, async ({ id }) => {
    charged.push(id);
    return id === "nobody" ? "unknown customer" : "charged";
  });
  context.onTestFinished(async () => running.stop("0ms"));
  const bodies = ["known", "nobody"].map((id) => ({ body: Buffer.from(JSON.stringify({ id })), messageId: id }));
  await system.publish(...bodies);
  await waitUntil(async () => (await system.letters("billing")).length === 1);
  await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
  await running.stop();
  expect(charged.toSorted()).toEqual(["known", "nobody"]);
  const [letter] = await system.letters("billing");
  expect(letter).toMatchObject({ messageId: "nobody", deadLetterReason: "UNKNOWN_CUSTOMER" });
});
