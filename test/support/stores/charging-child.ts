// A consumer in a process of its own that charges for orders behind the guard. It reports the guard's answers on its
// output, a line each.
import { registerHooks } from "node:module";

import type { ConsumeOptions, Running } from "../../../src/consume/index.ts";
import type { System } from "../../../src/index.ts";
import { type Books, type BooksPlace, openBooks } from "./books.ts";

/** The input of the process, as JSON in its first argument. */
export interface ChargingInput {
  readonly declared: System;
  /** The options of `billing`. With only an endpoint of SQS, it uses the documented example. */
  readonly options: Pick<ConsumeOptions, "target" | "connection"> | { readonly endpoint: string };
  readonly books: BooksPlace;
  /** True if it dies when the guard has remembered its first run, before the broker learns of it. */
  readonly dies: boolean;
}

// The examples import the package by the name that its users install.
registerHooks({
  resolve: (specifier, context, next) => {
    const file = { "redeliver/consume": "index", "redeliver/opentelemetry": "opentelemetry" }[specifier];
    return next(
      file === undefined ? specifier : new URL(`../../../src/consume/${file}.ts`, import.meta.url).href,
      context,
    );
  },
});

const { declared, options, books: place, dies } = JSON.parse(process.argv[2] ?? "") as ChargingInput;
const books = await openBooks(place);
const store: Books["store"] = {
  begin: async (...claimed) => {
    const answer = await books.store.begin(...claimed);
    console.log(answer);
    return answer;
  },
  finish: async (...finished) => {
    await books.store.finish(...finished);
    if (dies) process.kill(process.pid, "SIGKILL");
  },
  release: books.store.release,
};

async function run(): Promise<Running> {
  if ("endpoint" in options) {
    // Other tests check its log.
    console.error = () => undefined;
    const { runBilling } = await import("../../../examples/consume-orders.ts");
    return runBilling(declared, options, store, async ({ id }) => {
      await books.charge(id);
      return "charged";
    });
  }
  const { consume, once } = await import("../../../src/consume/index.ts");
  const chargeOnce = once<unknown>({ store, consumer: "billing", expires: "2m", keep: "1h" }, async ({ id }) =>
    books.charge(id ?? "nobody's"),
  );
  return consume(declared, "billing", { ...options, body: "bytes" }, chargeOnce);
}

const running = await run();
process.once("SIGTERM", () => void running.stop().then(books.close));
console.log("ready");
