// Access to the machine for the set-up scripts: its commands and, with the rights for it, its Debian packages. They run
// before node_modules exists, on any Node since 20. So this is plain JavaScript without dependencies.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export const root = join(import.meta.dirname, "..");
const startedAt = performance.now();

export function say(text) {
  const elapsedSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`[bootstrap ${elapsedSeconds.padStart(5)} s] ${text}`);
}

/** The last lines of a log, because the beginning seldom shows the failure. */
export function tail(text, lineCount = 40) {
  return text.trimEnd().split("\n").slice(-lineCount).join("\n");
}

/** Runs a command without showing its output. A failure's message may quote the output. */
export function run(command, commandArguments, environment = process.env, folder = root) {
  const result = spawnSync(command, commandArguments, {
    cwd: folder,
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

/** The reason why a set-up cannot go on. `main` prints it without a stack. */
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
    // One unreachable source of several fails the update, although the needed lists may be there. The installation
    // decides.
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
