import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

// Installs the packed package into an empty folder, and compares its command line with `node -e 0`. The first start
// after an installation has no compile cache. The starts alternate, because the machine may do something else beside.
// Prints JSON. `node bench/start.ts ROUNDS`

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "redeliver-start-"));
const home = join(folder, "home");

interface Start {
  readonly wallMs: number;
  /** The time of the processor, of user and system. Null where the system does not tell it. */
  readonly processorMs: number | null;
}

function install(): void {
  const npm = (cwd: string, ...words: string[]): string =>
    execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [{ filename }] = JSON.parse(npm(root, "pack", "--json", "--pack-destination", folder)) as [
    { filename: string },
  ];
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  npm(folder, "install", "--no-audit", "--no-fund", "--prefer-offline", join(folder, filename));
  copyFileSync(join(root, "examples/shop.yaml"), join(folder, "shop.yaml"));
  writeFileSync(
    join(folder, "shop.ts"),
    'import { constant, defineSystem } from "redeliver";\nexport default defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from: { orders: "all" }, retry: { attempts: 2, backoff: constant("1s") } } } });\n',
  );
}

/** The time that ended children have used. Linux counts it in hundredths of a second. */
function processorMs(): number | null {
  if (!existsSync("/proc/self/stat")) return null;
  const [, after = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
  const [user = 0, system = 0] = after.split(" ").slice(13, 15).map(Number);
  return 10 * (user + system);
}

function start(...words: readonly string[]): Start {
  const [startedAt, usedBefore] = [performance.now(), processorMs()];
  const child = spawnSync(process.execPath, words, { cwd: folder, env: { ...process.env, HOME: home } });
  if (child.status !== 0) throw new Error(String(child.stderr));
  const [wallMs, used] = [performance.now() - startedAt, processorMs()];
  return { wallMs, processorMs: used === null || usedBefore === null ? null : used - usedBefore };
}

function compile(file: string): Start {
  return start("node_modules/redeliver/dist/cli/main.cjs", "compile", file, "--target", "rabbitmq@4.3");
}

function firstCompile(file: string): Start {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  return compile(file);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
/** Hundredths of a second are coarse, and their mean is exact. */
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

try {
  install();
  const rounds = Array.from({ length: Number(process.argv[2] ?? 31) }, () => ({
    nothing: start("-e", "0"),
    "shop.yaml, first": firstCompile("shop.yaml"),
    "shop.yaml, later": compile("shop.yaml"),
    "shop.ts, first": firstCompile("shop.ts"),
    "shop.ts, later": compile("shop.ts"),
  }));
  const over = (name: keyof (typeof rounds)[number]): object => ({
    name,
    wallMs: median(rounds.map((round) => round[name].wallMs - round.nothing.wallMs)),
    processorMs: mean(rounds.map((round) => (round[name].processorMs ?? 0) - (round.nothing.processorMs ?? 0))),
  });
  const nothing = {
    wallMs: median(rounds.map((round) => round.nothing.wallMs)),
    processorMs: mean(rounds.map((round) => round.nothing.processorMs ?? 0)),
  };
  const names = Object.keys(rounds[0] ?? {}) as (keyof (typeof rounds)[number])[];
  console.log(JSON.stringify({ rounds: rounds.length, nothing, over: names.slice(1).map(over) }));
} finally {
  rmSync(folder, { recursive: true });
}
