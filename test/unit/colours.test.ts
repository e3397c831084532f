import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

// `script` runs a command at a terminal of its own.
const script = "/usr/bin/script";
if (!existsSync(script)) console.warn("[colours] no command ran at a terminal: there is no script of util-linux");

test.runIf(existsSync(script))("a terminal gets colours, unless NO_COLOR is set", () => {
  const root = resolve(import.meta.dirname, "../..");
  const command = `'${process.execPath}' src/cli/main.ts plan stacks/shop.ts --target rabbitmq@4.3 2>/dev/null`;
  const shown = (environment: Readonly<Record<string, string>>): string =>
    execFileSync(script, ["-qec", command, "/dev/null"], {
      cwd: root,
      // A variable of a CI service switches colours off, too.
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TERM: "xterm-256color", ...environment },
      encoding: "utf8",
    });
  const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
  expect(shown({}).match(colours)?.length).toBeGreaterThan(10);
  expect(shown({ NO_COLOR: "1" })).not.toMatch(colours);
  expect(shown({ NO_COLOR: "1" })).toBe(shown({}).replaceAll(colours, ""));
});
