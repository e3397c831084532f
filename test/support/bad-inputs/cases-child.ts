import { writeSync } from "node:fs";

import { runCase } from "./cases.ts";

/** Runs the cases from one index up to another, and writes a line before and after each. */
const [folder = "", ...numbers] = process.argv.slice(2);
const [seed = 1, from = 0, to = 0] = numbers.map(Number);
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
for (let index = from; index < to; index++) {
  say({ index });
  const startedAtMs = performance.now();
  const { name, complaint } = await runCase(seed, index, folder);
  say({ index, name: name.slice(0, 500), complaint, tookMs: Math.round(performance.now() - startedAtMs) });
}
process.exit(0);
