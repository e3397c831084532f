import Table from "cli-table3";

import { startCluster } from "../test/support/broker-cluster.ts";
import type { BrokerVersion } from "../test/support/broker-images.ts";
import type { CourseRecord } from "../test/support/consume/fault-course.ts";
import { startFaultCourse } from "../test/support/consume/fault-course.ts";
import type { Strategy } from "../test/support/consume/fates.ts";
import type { FaultName } from "../test/support/consume/faults.ts";
import { faults } from "../test/support/consume/faults.ts";

// Runs consumers of every strategy on a cluster of three nodes through one fault at a time, and prints a table. It
// needs Docker, and root for network faults. `node bench/faults.ts [4.3|4.0] [messages of each strategy] [fault, …]`;
// main.ts starts it for both versions.

const strategiesOf: Readonly<Partial<Record<BrokerVersion, readonly Strategy[]>>> = {
  "4.3": ["native", "deferred", "staged", "waits"],
  "4.0": ["staged", "waits"],
};
const [version = "4.3", count = "3000", ...wanted] = process.argv.slice(2);
const strategies = strategiesOf[version as BrokerVersion];
if (strategies === undefined) throw new Error(`there are no strategies for ${version}`);
const seed = 17;
/** 80 messages a second with 10 handlers. */
const handlingMs = 125;
const warmUpMs = 5_000;
const faultMs = 25_000;
const longestMs = 300_000;

const seconds = (durationMs: number): string => (durationMs / 1_000).toFixed(1);

const columns: readonly (readonly [string, (record: CourseRecord) => string | number])[] = [
  ["strategy", ({ strategy }) => strategy],
  ["messages", ({ confirmed }) => confirmed],
  ["lost", ({ lost, unfinished }) => (unfinished === null ? lost.length : `${lost.length} not ended`)],
  ["lost by the broker", ({ lostByBroker }) => lostByBroker.length],
  ["doubled", ({ doubled, mostDoubled }) => `${doubled} of ${mostDoubled}`],
  ["above", ({ above }) => above.length],
  ["early", ({ early }) => early.length],
  ["otherwise wrong", ({ wrong, lost }) => Math.max(0, wrong.length - lost.length)],
  ["held", ({ heldAtMost }) => heldAtMost],
  ["unsettled", ({ unsettledAtMost }) => unsettledAtMost],
  [
    "longest stall",
    ({ stall, stalledBy }) => `${seconds(stall.durationMs)}${stalledBy === "drain" ? " after it" : ""}`,
  ],
  [
    "while served",
    ({ unexcused, unexcusedBy }) => `${seconds(unexcused.servedMs)}${unexcusedBy === "drain" ? " after it" : ""}`,
  ],
  ["while any node served", ({ stall }) => seconds(stall.servedByAnyMs)],
  ["said to take", ({ stall }) => seconds(stall.takingMs)],
  ["lost links", ({ connectionsLost }) => connectionsLost],
  ["pauses", ({ pauses }) => pauses],
];

async function measure(cluster: Awaited<ReturnType<typeof startCluster>>, name: FaultName): Promise<string[][]> {
  const course = await startFaultCourse(cluster, strategies ?? [], { count: Number(count), seed, handlingMs });
  try {
    await new Promise((resolve) => setTimeout(resolve, warmUpMs));
    await course.play(name, faultMs);
    const records = await course.finish();
    for (const { strategy, above, early, wrong, unfinished } of records)
      for (const each of [...above, ...early, ...wrong, unfinished ?? []].flat().slice(0, 10))
        console.error(`${name}, ${strategy}: ${each}`);
    return records.map((record) => [name, ...columns.map(([, of]) => String(of(record)))]);
  } finally {
    await course.close();
  }
}

const within = async <Value>(work: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${longestMs} ms`)), longestMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

// The benchmark also counts crashes of a client library.
const crashes: string[] = [];
process.on("uncaughtException", (error) => {
  crashes.push(error.stack ?? error.message);
  console.error(`uncaught: ${error.stack}`);
});
console.log(
  `RabbitMQ ${version}, ${count} messages of each strategy, faults of ${seconds(faultMs)} s; times in seconds`,
);
const table = new Table({
  head: ["fault", ...columns.map(([name]) => name)],
  style: { head: [], border: [] },
  chars: { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" },
});
const cluster = await startCluster(version as BrokerVersion, 20_000);
try {
  for (const name of Object.keys(faults) as FaultName[]) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const rows = await within(measure(cluster, name)).catch((error: Error) => {
      console.error(`${name}: ${error.stack}`);
      return [[name, "was not played"]];
    });
    table.push(...rows);
    for (const row of rows) console.error(row.join(" | "));
  }
} finally {
  await cluster.stop();
}
console.log(table.toString());
console.log(`errors that nobody caught: ${crashes.length}`);
// Connections that a fault left open would keep the process alive.
process.exit(0);
