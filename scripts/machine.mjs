// What the set-up scripts ask of the machine they run on: its commands and, where they may, its Debian packages.
// They run before node_modules exists, on any Node since 20, so this is plain JavaScript without dependencies.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export const root = join(import.meta.dirname, "..");
const startedAt = performance.now();

export function say(text) {
  const elapsedSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`[bootstrap ${elapsedSeconds.padStart(5)} s] ${text}`);
}

/** The last lines of a log; the beginning is seldom what went wrong. */
export function tail(text, lineCount = 40) {
  return text.trimEnd().split("\n").slice(-lineCount).join("\n");
}

/** Runs a command without showing its output; the output is for the message if it fails. */
export function run(command, commandArguments, environment = process.env) {
  const result = spawnSync(command, commandArguments, {
    cwd: root,
    env: environment,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return {
    ok: result.status === 0,
    output: `${result.stdout ?? ""}${result.stderr ?? ""}${result.error?.message ?? ""}`,
  };
}

export function isOnPath(command) {
  return (process.env.PATH ?? "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why a set-up cannot go on; `main` prints it without a stack. */
export class BootstrapError extends Error {}

export const canInstallDebianPackages = () =>
  process.platform === "linux" && process.getuid?.() === 0 && isOnPath("apt-get");

let packageListsAreFresh = false;

export function installDebianPackages(packages) {
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const waitForLock = ["-o", "DPkg::Lock::Timeout=120"];
  if (!packageListsAreFresh) {
    say("apt-get update");
    const update = run("apt-get", ["update", "-qq", ...waitForLock], environment);
    // One unreachable source of several fails the update although the lists that are needed may be there: the installation decides.
    if (!update.ok) say(`apt-get update had errors, going on: ${tail(update.output, 2)}`);
    packageListsAreFresh = true;
  }
  say(`apt-get install ${packages.join(" ")}`);
  const install = run(
    "apt-get",
    ["install", "-y", "-qq", "--no-install-recommends", ...waitForLock, ...packages],
    environment,
  );
  if (!install.ok) throw new BootstrapError(`apt-get install ${packages.join(" ")} failed:\n${tail(install.output)}`);
  say(`installed ${packages.join(" ")}`);
}
