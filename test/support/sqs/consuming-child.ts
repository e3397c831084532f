// A consumer in a process of its own, for a test to kill. It reports its actions on its output, a line each.
import { consume } from "../../../src/consume/consume.ts";
import type { System, TargetInput } from "../../../src/index.ts";
import { region } from "./clients.ts";

const { declared, target, endpoint } = JSON.parse(process.argv[2] ?? "") as {
  readonly declared: System;
  readonly target: TargetInput<"sqs">;
  readonly endpoint: string;
};

const running = await consume<"sqs", string>(
  declared,
  "billing",
  {
    target,
    connection: { endpoint, region, credentials: { accessKeyId: "test", secretAccessKey: "test" } },
    body: "text",
    // No receive is open while it handles. The receive of a killed process would go on, and take a message that no
    // process handles.
    concurrency: 1,
    stopWithin: "8s",
  },
  async ({ body }, { number, signal }) => {
    console.log(`began ${body} ${number}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
);
process.once("SIGTERM", () => void running.stop().then(() => console.log("stopped")));
console.log("running");
