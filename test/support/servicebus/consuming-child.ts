// A consumer in a process of its own, for a test to kill. It reports its actions on its output, a line each.
import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import { consume, type ConsumeOptions } from "../../../src/consume/index.ts";
import type { System } from "../../../src/index.ts";

const { declared, options, offsetMs } = JSON.parse(process.argv[2] ?? "") as {
  readonly offsetMs: number;
  readonly declared: System;
  readonly options: ConsumeOptions<"servicebus", string>;
};

const nowMs = Date.now;
Date.now = () => nowMs() + offsetMs;
const running = await consume<"servicebus", string>(
  declared,
  "billing",
  { ...options, stopWithin: "2s", log: ({ kind }) => console.log(`event ${kind}`) },
  async ({ body, raw }, { number, signal }) => {
    console.log(`began ${body} ${number}`);
    const [, blockMs] = /blocks for (\d+) ms/.exec(body) ?? [];
    // Meanwhile no timer runs, not even the one that renews locks.
    if (blockMs !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockMs));
    if (body.endsWith("ends")) return;
    if (body.endsWith("fails")) {
      const { lockedUntilUtc = new Date(Number.NaN) } = raw as ServiceBusReceivedMessage;
      console.log(`failed ${Number(process.hrtime.bigint()) / 1e6} ${lockedUntilUtc.getTime() - nowMs()}`);
      throw new Error("always");
    }
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
);
process.once("SIGTERM", () => void running.stop().then(() => console.log("stopped")));
console.log("running");
