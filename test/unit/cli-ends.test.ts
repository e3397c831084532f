import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { withoutProgress } from "../support/without-progress.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("ends");

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs the program on a module with this text. */
async function run(name: string, module: string, words: readonly string[]): Promise<Ended> {
  writeFileSync(join(folder, name), module);
  const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), ...words], { cwd: folder });
  const closed = new Promise<number | null>((done) => child.on("close", done));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, error };
}

async function plan(name: string, module: string, ...words: string[]): Promise<Ended> {
  return run(name, module, ["plan", name, ...words]);
}

const system = 'export default { name: "shop", sources: { orders: { kind: "topic" } }, consumers: {} };\n';

describe("the program ends when its work is done, or gives the reason why it cannot", () => {
  test("a module that leaves a timer and a socket open", async () => {
    const open = `import { createServer } from "node:net";\nsetInterval(() => {}, 1000);\ncreateServer().listen(0);\n`;
    const { code, out } = await plan("open.ts", open + system);
    expect([code, out]).toEqual([0, "shop: 0 consumers, 1 source\n"]);
  });

  const cases: readonly (readonly [name: string, module: string, says: string])[] = [
    ["exits.ts", `process.exit(0);\n${system}`, "ended the program"],
    [
      "exits-later.ts",
      `setTimeout(() => process.exit(0));\nawait new Promise(() => {});\n${system}`,
      "ended the program",
    ],
    ["waits.ts", `await new Promise(() => {});\n${system}`, "ended the program"],
    [
      "throws-later.ts",
      `setTimeout(() => { throw new Error("late"); });\nawait new Promise(() => {});\n${system}`,
      "late",
    ],
  ];
  test.concurrent.for(cases)("%s", async ([name, module, says], { expect: expectHere }) => {
    const { code, out, error } = await plan(name, module);
    expectHere([code, out]).toEqual([2, ""]);
    expectHere(error).toContain("error[RD003]: ");
    expectHere(error).toContain(says);
    expectHere(error).not.toMatch(/\n {4,}at .*:\d+:\d+/);
  });

  test("as JSON, too", async () => {
    const { code, out } = await plan("exits-json.ts", "process.exit(0);\n", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([2, { ok: false, diagnostics: [{ code: "RD003" }] }]);
  });

  test("modules that never export end after 30 s, with a message every 10 s", async () => {
    const never = [`for (;;);\n${system}`, `setInterval(() => {}, 1000);\nawait new Promise(() => {});\n${system}`];
    const ended = await Promise.all(never.map(async (module, index) => plan(`never-${index}.ts`, module)));
    for (const { code, error } of ended) {
      expect(code).toBe(2);
      expect(error).toContain("the module gives no export within 30 s");
      expect(error).toMatch(/^redeliver: still working after \d+ s, on never-\d\.ts, with \d+ MB of memory$/m);
    }
  }, 120_000);

  test("a reader that stops reading", async () => {
    writeFileSync(join(folder, "shop.ts"), system);
    const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), "--help"], { cwd: folder });
    child.stdout.destroy();
    const closed = new Promise<number | null>((done) => child.on("close", done));
    const error = await text(child.stderr);
    expect([error, await closed]).toEqual(["", expect.toSatisfy((code) => code === 0 || code === 2)]);
  });
});

describe("a module prints to the standard error, and the standard output is the answer alone", () => {
  const prints = `console.log("from the module");
process.stdout.write("in pieces\\n");
setInterval(() => console.log("later"));
await new Promise((done) => setTimeout(done, 20));
${system}`;

  test("as text", async () => {
    const { code, out, error } = await run("prints.ts", prints, ["plan", "prints.ts"]);
    expect([code, out]).toEqual([0, "shop: 0 consumers, 1 source\n"]);
    expect(error).toContain("from the module\nin pieces\n");
    expect(error).toContain("later\n");
  });

  test.concurrent.for([["compile"], ["check", "--json"], ["check", "--format", "sarif"]])(
    "as data: %s",
    async ([command = "", ...words], { expect: expectHere }) => {
      const file = `prints-${words.length}.ts`;
      const ended = await run(file, prints, [command, file, "--target", "rabbitmq@4.3", ...words]);
      expectHere(ended.code).toBe(0);
      expectHere(() => JSON.parse(ended.out) as unknown).not.toThrow();
      expectHere(ended.error).toContain("from the module\n");
    },
  );
});

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
if (!hasTerminal) console.warn("The sign of life at a terminal was NOT tried: there is no script of util-linux here.");

test.runIf(hasTerminal)("at a terminal a command shows after a second that it works", () => {
  writeFileSync(join(folder, "slow.mjs"), "await new Promise((done) => setTimeout(done, 1_500));\nexport default 1;\n");
  const words = `${process.execPath} ${join(root, "src/cli/main.ts")} plan ${join(folder, "slow.mjs")}`;
  const said = spawnSync("script", ["-qec", words, "/dev/null"], { encoding: "utf8" });
  expect(said.stdout).toMatch(/^redeliver: still working after \d+ s(?:, on \S+)?, with \d+ MB of memory\r\n[^]*RD101/);
});

describe("a module that Node cannot run as it stands gets the edit", () => {
  test.concurrent.for([
    ["enum.ts", "enum Key { a }", 'write const Keys = { placed: "order.placed" } as const'],
    ["commonjs.mjs", "module.exports = {};", "only a file whose name ends in .cjs or .cts has require"],
    ["require.mts", 'require("redeliver");', "export default …; only a file"],
    ["old-name.mjs", 'import { exponentialBackoff } from "redeliver";', "import exponential instead"],
    ["typo.mts", 'import { defineSytem } from "redeliver";', "import defineSystem instead"],
    ["comma.ts", "export const list = {\n  a: 1\n  b: 2,\n};", "see line 3 of the file"],
    ["throws-there.mts", "\n\nundefined.name;", "see line 3 of the file"],
    ["type.mts", 'import { SystemInput } from "redeliver";', "write import { type SystemInput }"],
    ["no-such.mjs", 'import { queue } from "redeliver";', "redeliver has brokerOf, brokers, "],
  ] as const)("%s", async ([name, text, help], { expect: expectHere }) => {
    const { code, error } = await plan(name, `${text}\nexport default {};`);
    expectHere(code).toBe(1);
    expectHere(withoutProgress(error)).toMatch(/^error\[RD003\]/);
    expectHere(error).toContain(help);
  });
});
