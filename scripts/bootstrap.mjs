// Prepares a bare machine for this project's npm scripts. It installs the packages of the lock file, or with
// --command-line only the few that the command line needs. On demand it installs a Docker daemon (--docker) and a
// Chromium (--browser). Further options are the emulators of SQS (--sqs), the clients for Java (--java), PostgreSQL and
// Redis (--stores), the site's own packages (--site), and mmdebstrap (--mmdebstrap). It runs before node_modules exists, on any Node since 20, so it is
// plain JavaScript without dependencies. It prints nothing when there is nothing to do.
import { spawn } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BootstrapError,
  canInstallDebianPackages,
  installDebianPackages,
  isOnPath,
  run,
  say,
  tail,
} from "./machine.mjs";
import { provideJavaClients } from "./java-clients.mjs";
import { installAllPackages, installCommandLine, installSite } from "./packages.mjs";
import { provideSqsEmulators } from "./sqs-emulators.mjs";

// --- Docker ---------------------------------------------------------------------------------------------------------

const dockerAnswers = () => run("docker", ["version", "--format", "{{.Server.Version}}"]).ok;

/** A killed daemon leaves its pid file, and the next daemon refuses to start while a process has that pid. */
function removeStalePidFile(pidFile) {
  if (!existsSync(pidFile)) return;
  const statusFile = `/proc/${readFileSync(pidFile, "utf8").trim()}/status`;
  const status = existsSync(statusFile) ? readFileSync(statusFile, "utf8") : "";
  const isRunning = /^Name:\s*(dockerd|containerd)$/m.test(status) && !/^State:\s*[ZX]/m.test(status);
  if (!isRunning) rmSync(pidFile, { force: true });
}

/** Starts the daemon. It tries up to three times, because a daemon that was just killed may not have ended yet. */
async function startDocker() {
  for (let attempt = 1; ; attempt++) {
    for (const name of ["docker.pid", "docker/containerd/containerd.pid"]) removeStalePidFile(`/var/run/${name}`);
    try {
      return await startDockerDaemon();
    } catch (error) {
      if (attempt === 3) throw error;
      say("dockerd did not start; once more");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}

async function startDockerDaemon() {
  const logPath = join(tmpdir(), "redeliver-dockerd.log");
  say(`starting dockerd, which stays running (log: ${logPath})`);
  const log = openSync(logPath, "w");
  const daemon = spawn("dockerd", [], { detached: true, stdio: ["ignore", log, log] });
  let failure;
  daemon.once("error", (error) => (failure = error.message));
  daemon.once("exit", (code) => (failure = `dockerd ended with code ${code}`));
  daemon.unref();
  const deadline = performance.now() + 60_000;
  while (failure === undefined && performance.now() < deadline) {
    if (dockerAnswers()) return say("Docker answers");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new BootstrapError(
    `The Docker daemon does not answer: ${failure ?? "no answer within 60 s"}\n${tail(readFileSync(logPath, "utf8"))}`,
  );
}

async function provideDocker() {
  if (process.env.RABBITMQ_URL !== undefined || dockerAnswers()) return;
  const manual =
    "Install and start Docker, or set RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL to a RabbitMQ broker that the tests may use.";
  if (process.env.DOCKER_HOST !== undefined)
    throw new BootstrapError(`No Docker daemon answers at DOCKER_HOST. ${manual}`);
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    throw new BootstrapError(`No Docker daemon answers, and only root on Linux can set one up here. ${manual}`);
  if (!isOnPath("dockerd")) {
    if (!canInstallDebianPackages())
      throw new BootstrapError(`No Docker daemon answers, and there is no apt-get to install one. ${manual}`);
    // Installs mmdebstrap, too. A machine without Docker often has no registry either, and then the broker images come
    // from Debian packages.
    installDebianPackages(["docker.io", "iptables", "mmdebstrap"]);
    // If a service manager runs, the package has already started its daemon.
    if (dockerAnswers()) return say("Docker answers");
  }
  await startDocker();
}

// --- tools ----------------------------------------------------------------------------------------------------------

function provideMmdebstrap() {
  if (isOnPath("mmdebstrap")) return;
  if (!canInstallDebianPackages())
    throw new BootstrapError("mmdebstrap is missing, and only root on a machine with apt-get can install it here.");
  installDebianPackages(["mmdebstrap"]);
}

/**
 * Debian keeps the server's programs off the path, in a folder for each version. The client alone has such a folder,
 * too.
 */
function debianHasInitdb() {
  const folder = "/usr/lib/postgresql";
  return (
    existsSync(folder) && readdirSync(folder).some((version) => existsSync(join(folder, version, "bin", "initdb")))
  );
}

/**
 * Installs the servers for the tests of idempotency. The tests start them, so the packages need not start any service.
 */
function provideStores() {
  const packages = [];
  if (!isOnPath("initdb") && !debianHasInitdb()) packages.push("postgresql");
  if (!isOnPath("redis-server")) packages.push("redis-server");
  if (packages.length === 0) return;
  if (!canInstallDebianPackages())
    throw new BootstrapError(
      `The tests of idempotency need the Debian packages ${packages.join(" and ")}, or what they stand for, and only root on a machine with apt-get can install them here.`,
    );
  installDebianPackages(packages);
}

function provideBrowser() {
  if (process.env.CHROMIUM_PATH !== undefined || ["chromium", "chromium-browser", "google-chrome"].some(isOnPath))
    return;
  try {
    if (!canInstallDebianPackages())
      throw new BootstrapError("only root on a machine with apt-get can install it here");
    installDebianPackages(["chromium"]);
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    say(`warning: no Chromium, the browser test will not run: ${error.message}`);
  }
}

async function main(flags) {
  const known = ["--command-line", "--docker", "--browser", "--sqs", "--java", "--stores", "--site", "--mmdebstrap"];
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw new BootstrapError(`unknown option ${unknown}; known: ${known.join(", ")}`);
  // Building an image calls this script during tests: it must not touch their packages.
  if (flags.includes("--command-line")) installCommandLine();
  else if (!flags.includes("--mmdebstrap")) installAllPackages();
  if (flags.includes("--site")) installSite();
  if (flags.includes("--docker")) await provideDocker();
  if (flags.includes("--mmdebstrap")) provideMmdebstrap();
  if (flags.includes("--browser")) provideBrowser();
  if (flags.includes("--stores")) provideStores();
  if (flags.includes("--java")) provideJavaClients();
  if (flags.includes("--sqs") && process.env.SQS_ENDPOINT === undefined) provideSqsEmulators();
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  console.error(`[bootstrap] ${error.message}`);
  process.exitCode = 1;
}
