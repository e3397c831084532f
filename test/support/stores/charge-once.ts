import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";

import { until } from "../deployed-system.ts";
import { type BooksPlace, openBooks } from "./books.ts";
import type { ChargingInput } from "./charging-child.ts";

const script = resolve(import.meta.dirname, "charging-child.ts");

/**
 * The deployed consumer `billing`. It must have many attempts, because a run spends one if another run handles the same
 * order.
 */
export interface Shop extends Pick<ChargingInput, "declared" | "options"> {
  /** Publishes a message for each order, with the order as its id and in its body. */
  readonly publish: (orders: readonly string[]) => Promise<unknown>;
}

/** The result. */
export interface Charged {
  /** The number of charges of each order. */
  readonly charges: readonly number[];
  /** The exits of processes that died after the charge, before the broker learned of it. */
  readonly died: readonly unknown[];
  /** The number of runs that the guard allowed, in all processes. */
  readonly begun: number;
  /** The number of times that the guard found an order done. */
  readonly done: number;
}

const orderCount = 5;
const copies = 3;

/**
 * First one order: its process dies after the charge, and before it settles the message. Then several copies of that
 * order and of others, for two processes at a time. It ends when the guard has answered for each message.
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
