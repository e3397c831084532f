import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";

import { until } from "../deployed-system.ts";
import { type BooksPlace, openBooks } from "./books.ts";
import type { ChargingInput } from "./charging-child.ts";

const script = resolve(import.meta.dirname, "charging-child.ts");

/** The consumer `billing` where it is deployed. It has to have many attempts: who comes while another run handles the same order spends one. */
export interface Shop extends Pick<ChargingInput, "declared" | "options"> {
  /** Publishes a message for each order, with the order as its id and in its body. */
  readonly publish: (orders: readonly string[]) => Promise<unknown>;
}

/** What came of it. */
export interface Charged {
  /** How often each order was charged. */
  readonly charges: readonly number[];
  /** How a process ended that died between the charge and what the broker was to hear. */
  readonly died: readonly unknown[];
  /** How often the guard let a run begin, in all processes. */
  readonly begun: number;
  /** How often the guard found an order done. */
  readonly done: number;
}

const orderCount = 5;
const copies = 3;

/**
 * One order, whose process dies when it has charged, and before it settles the message; then several copies of that order and of others, for two
 * processes at a time. It is through when the guard has answered for each message.
 */
export async function chargeOnce(
  place: BooksPlace,
  shop: Shop,
  finished: (end: () => Promise<void>) => void,
): Promise<Charged> {
  const { declared, options } = shop;
  const lines: string[] = [];
  const begin = (dies: boolean) => {
    const input: ChargingInput = { declared, options, books: place, dies };
    const child = spawn(process.execPath, [script, JSON.stringify(input)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
    });
    finished(async () => void child.kill("SIGKILL"));
    child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trimEnd().split("\n")));
    return { child, exited: once(child, "exit") };
  };
  const count = (wanted: string): number => lines.filter((line) => line === wanted).length;
  const run = randomUUID();
  const orders = Array.from({ length: orderCount }, (_, index) => `${run}-${index}`);
  await shop.publish(orders.slice(0, 1));
  const died = await begin(true).exited;
  await shop.publish(Array.from({ length: copies }, () => orders).flat());
  const processes = [begin(false), begin(false)];
  await until(180_000, () => count("done") >= 1 + orderCount * copies - (orderCount - 1));
  for (const { child } of processes) child.kill("SIGTERM");
  await Promise.all(processes.map(({ exited }) => exited));
  const books = await openBooks(place);
  const charges = await books.chargesOf(orders);
  await books.close();
  return { charges, died, begun: count("begun"), done: count("done") };
}
