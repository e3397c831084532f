import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { withoutProgress } from "../support/without-progress.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("output");
const shop = join(root, "examples/shop.yaml");
const compile = ["compile", shop, "--target", "rabbitmq@4.3"];

/** Runs a shell line in which `redeliver` is this checkout. The last line of the output is the exit code. */
function shell(line: string): { code: number; out: string; error: string } {
  const program = `redeliver() { "${process.execPath}" "${join(root, "src/cli/main.ts")}" "$@"; }\n`;
  const child = spawnSync("bash", ["-c", `${program}${line}`], { cwd: folder, encoding: "utf8", timeout: 100_000 });
  const lines = child.stdout.trimEnd().split("\n");
  return { code: Number(lines.pop()), out: lines.join("\n"), error: withoutProgress(child.stderr) };
}
const redeliver = (words: readonly string[], rest = ""): ReturnType<typeof shell> =>
  shell(`redeliver ${words.map((word) => `'${word}'`).join(" ")} ${rest}; echo $?`);

describe("output without a reader ends the program with 2 and no stack trace", () => {
  const commands = [compile, ["--help"], ["explain", "RD101"], ["plan", "none.yaml", "--json"], ["explain", "none"]];
  test.for(commands)("a reader that has gone: %j", (words) => {
    const line = words.map((word) => `'${word}'`).join(" ");
    expect(shell(`redeliver ${line} 2>&1 | true; echo \${PIPESTATUS[0]}`)).toEqual({ code: 2, out: "", error: "" });
  });

  test.runIf(existsSync("/dev/full"))("a full disk", () => {
    for (const words of [compile, ["--help"]]) {
      const full = redeliver(words, ">/dev/full");
      expect(full).toMatchObject({ code: 2, error: "error: the standard output cannot be written: ENOSPC\n" });
    }
    for (const words of [["plan", "none.yaml"], ["plan"], ["explain", "none"]])
      expect(redeliver(words, "2>/dev/full")).toEqual({ code: 2, out: "", error: "" });
  });
});

describe("an unwritable place gives one message and wrong usage, at once", () => {
  mkdirSync(join(folder, "here"));
  writeFileSync(join(folder, "file"), "");
  const places: readonly (readonly [place: string, reason: string])[] = [
    ["here", "it is a folder"],
    ["file/a.json", "a part of its path is no folder"],
    ["file/a/b.json", "a part of its path is no folder"],
    ...(existsSync("/dev/full")
      ? ([
          ["/dev/full", "the disk is full"],
          ["/proc/self/mem", "no file can be made there"],
          ["/proc/none/a.json", "no file can be made there"],
          ["/proc/self/fd/none/a.json", "no file can be made there"],
        ] as const)
      : []),
  ];
  test.for(places)("%s", ([place, reason]) => {
    const error = `error: ${place} cannot be written: ${reason}\n`;
    expect(redeliver([...compile, "--output", place])).toEqual({ code: 2, out: "", error });
  });

  test("the folder of a report", () => {
    const below = existsSync("/proc/self") ? "/proc/none/out" : "file/out";
    const { code, error } = redeliver(["report", shop, "--target", "rabbitmq@4.3", "--output", below]);
    expect([code, error]).toEqual([2, expect.stringMatching(/^error: .* cannot be written: .*\n$/)]);
  });

  test("a pipe without a reader", () => {
    const { code, error } = shell(`mkfifo pipe; redeliver ${compile.join(" ")} --output pipe; echo $?`);
    expect([code, error]).toEqual([2, "error: pipe cannot be written: no program reads it\n"]);
  });

  test.runIf(existsSync("/proc/self"))("a home that cannot be created is no place for a cache", () => {
    expect(shell("HOME=/proc/none/home redeliver explain RD101; echo $?")).toMatchObject({ code: 0, error: "" });
  });
});

describe("a file is written completely, or stays as it was", () => {
  test("folders are created, the mode of an existing file stays, and no temporary file is left", () => {
    const place = join(folder, "a/b/c");
    expect(redeliver([...compile, "--output", join(place, "d.json")]).code).toBe(0);
    const written = readFileSync(join(place, "d.json"), "utf8");
    writeFileSync(join(place, "e.json"), "old", { mode: 0o600 });
    symlinkSync("e.json", join(place, "link.json"));
    expect(redeliver([...compile, "--output", join(place, "link.json")]).code).toBe(0);
    expect(lstatSync(join(place, "link.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(place, "e.json"), "utf8")).toBe(written);
    expect(statSync(join(place, "e.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(place).toSorted()).toEqual(["d.json", "e.json", "link.json"]);
  });

  test("a disk that fills up half-way leaves the old file", () => {
    const place = join(folder, "small");
    mkdirSync(place);
    writeFileSync(join(place, "d.json"), "old");
    // A limit on the file's size stands for a full disk.
    const { code, error } = shell(
      `trap '' XFSZ; ulimit -f 1; redeliver ${compile.join(" ")} --output small/d.json; echo $?`,
    );
    expect([code, error]).toEqual([2, expect.stringContaining("small/d.json cannot be written")]);
    expect(readdirSync(place)).toEqual(["d.json"]);
    expect(readFileSync(join(place, "d.json"), "utf8")).toBe("old");
  });

  test("a pipe gets the whole text, however late its reader comes", () => {
    const backoff = { kind: "constant", delay: "1s" };
    const consumer = { from: { orders: "all" }, retry: { attempts: 3, backoff } };
    const consumers = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`consumer-${index}`, consumer]));
    const declared = { name: "many", sources: { orders: { kind: "topic" } }, consumers };
    writeFileSync(join(folder, "many.json"), JSON.stringify(declared));
    const words = "compile many.json --target rabbitmq@4.3 --output late";
    const said = shell(
      `mkfifo late; (exec <late; sleep 2; cat >taken) & redeliver ${words}; code=$?; wait; echo $code`,
    );
    expect(said).toEqual({ code: 0, out: "", error: "" });
    const taken = readFileSync(join(folder, "taken"), "utf8");
    // More than a pipe holds.
    expect(taken.length).toBeGreaterThan(100_000);
    expect(JSON.parse(taken)).toMatchObject({ target: "rabbitmq@4.3" });
  });
});
