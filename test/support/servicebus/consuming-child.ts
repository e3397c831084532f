// A consumer in a process of its own, to be killed. It says on its output what it does, a line each.
import { consume } from "../../../src/consume/consume.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import type { System } from "../../../src/index.ts";

const { declared, options } = JSON.parse(process.argv[2] ?? "") as {
  readonly declared: System;
  readonly options: ConsumeOptions<"servicebus", string>;
};

const running = await consume<"servicebus", string>(
  declared,
  "billing",
  { ...options, stopWithin: "2s", log: ({ kind }) => console.log(`event ${kind}`) },
  async ({ body }, { number, signal }) => {
    console.log(`began ${body} ${number}`);
    const [, blockMs] = /blocks for (\d+) ms/.exec(body) ?? [];
    // Not even a timer runs meanwhile, such as that which renews locks.
    if (blockMs !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockMs));
    if (body.endsWith("ends")) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
);
process.once("SIGTERM", () => void running.stop().then(() => console.log("stopped")));
console.log("running");
