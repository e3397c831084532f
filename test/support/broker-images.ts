import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

/**
 * The broker versions the live tests run against: the newest, the first of 4.x that Debian has, and the oldest we
 * support.
 */
export const brokerVersions = ["4.3", "4.0", "3.10"] as const;
export type BrokerVersion = (typeof brokerVersions)[number];

export interface BrokerImage {
  readonly image: string;
  readonly origin: "official" | "debian";
}

type Report = (text: string) => void;

/** The Debian release with each broker version in its archive. */
const debianSuites: Record<BrokerVersion, string> = { "4.3": "forky", "4.0": "trixie", "3.10": "bookworm" };

const runFile = promisify(execFile);

/** Runs the docker command line. The error of a failed call contains docker's output. */
export async function docker(...commandArguments: readonly string[]): Promise<string> {
  const { stdout } = await runFile("docker", commandArguments, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/**
 * Finds the image of a broker version: the official one if it is here or can be pulled, else one built from Debian's
 * packages. So the tests run on a machine that reaches a Debian mirror and no container registry. Safe to call for all
 * versions at once.
 */
export async function ensureImage(version: BrokerVersion, report: Report = () => {}): Promise<BrokerImage> {
  const official: BrokerImage = { image: `rabbitmq:${version}-management`, origin: "official" };
  const debian: BrokerImage = { image: `redeliver-test/rabbitmq:${version}-debian`, origin: "debian" };
  for (const candidate of [official, debian]) {
    if (await isLocal(candidate.image)) return candidate;
  }
  if (await pullOfficial(official.image, report)) return official;
  await buildFromDebian(version, debian.image, report);
  return debian;
}

async function isLocal(image: string): Promise<boolean> {
  return docker("image", "inspect", "--format", "{{.Id}}", image).then(
    () => true,
    () => false,
  );
}

// --- official images ------------------------------------------------------------------------------------------------

let firstPull: Promise<boolean> | undefined;

/** Pulls an image. The first pull finds out for all of them if a registry can be reached at all. */
async function pullOfficial(image: string, report: Report): Promise<boolean> {
  if (firstPull === undefined) {
    firstPull = pull(image, report);
    return firstPull;
  }
  return (await firstPull) && pull(image, report);
}

/** `docker pull` writes its first line once the registry has answered. So long silence means that none is reachable. */
const registryAnswerTimeoutMs = 15_000;
const pullTimeoutMs = 240_000;

async function pull(image: string, report: Report): Promise<boolean> {
  const child = spawn("docker", ["pull", image], { stdio: ["ignore", "pipe", "pipe"] });
  let errorText = "";
  const giveUp = (reason: string): void => {
    errorText += reason;
    child.kill();
  };
  const answerTimer = setTimeout(
    giveUp,
    registryAnswerTimeoutMs,
    `no answer within ${registryAnswerTimeoutMs / 1000} s`,
  );
  const pullTimer = setTimeout(giveUp, pullTimeoutMs, `not pulled within ${pullTimeoutMs / 1000} s`);
  child.stdout.on("data", () => clearTimeout(answerTimer));
  child.stderr.on("data", (chunk: Buffer) => (errorText += chunk.toString()));
  const code = await exitCode(child);
  clearTimeout(answerTimer);
  clearTimeout(pullTimer);
  report(code === 0 ? `pulled ${image}` : `cannot pull ${image} (${errorText.trim().split(": ").at(-1)})`);
  return code === 0;
}

// --- images from Debian's packages ----------------------------------------------------------------------------------

let toolInstallation: Promise<unknown> | undefined;

async function buildFromDebian(version: BrokerVersion, image: string, report: Report): Promise<void> {
  const suite = debianSuites[version];
  toolInstallation ??= runFile(process.execPath, [
    join(import.meta.dirname, "../../scripts/bootstrap.mjs"),
    "--mmdebstrap",
  ]);
  await toolInstallation;
  report(`building an image of RabbitMQ ${version} from the packages of Debian ${suite}`);
  const imageId = await importDebianRoot(suite);
  const query = ["dpkg-query", "--show", "--showformat=${source:Upstream-Version}", "rabbitmq-server"];
  const fullVersion = await docker("run", "--rm", "--network", "none", imageId, ...query);
  if (!fullVersion.startsWith(`${version}.`)) {
    await docker("image", "rm", imageId);
    throw new Error(
      `Debian ${suite} carries RabbitMQ ${fullVersion} and no longer ${version}. Provide the image ${image} or rabbitmq:${version}-management, or name the suite that has ${version} in ${import.meta.filename}.`,
    );
  }
  // Only a finished and checked image gets its name, because an existing name is used without a check.
  await docker("tag", imageId, image);
  report(`built ${image} with RabbitMQ ${fullVersion}`);
}

/** Streams a minimal Debian with the broker into an image and returns the image's id. */
async function importDebianRoot(suite: string): Promise<string> {
  // Without this, the package's installation would start a broker.
  const forbidServices =
    'printf "#!/bin/sh\\nexit 101\\n" > "$1/usr/sbin/policy-rc.d"; chmod +x "$1/usr/sbin/policy-rc.d"';
  // Snapshots of an archive are older than their own expiry date.
  const acceptOldArchive = 'Acquire::Check-Valid-Until "false"';
  const bootstrap = spawn(
    "mmdebstrap",
    [
      "--quiet",
      "--variant=minbase",
      "--include=rabbitmq-server",
      `--aptopt=${acceptOldArchive}`,
      `--essential-hook=${forbidServices}`,
      suite,
      "-",
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const imageSettings = ["USER rabbitmq", "ENV LANG=C.UTF-8", 'CMD ["/usr/lib/rabbitmq/bin/rabbitmq-server"]'];
  const dockerImport = spawn("docker", ["import", ...imageSettings.flatMap((setting) => ["--change", setting]), "-"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errorText = "";
  let imageId = "";
  bootstrap.stderr.on("data", (chunk: Buffer) => (errorText += chunk.toString()));
  dockerImport.stderr.on("data", (chunk: Buffer) => (errorText += chunk.toString()));
  dockerImport.stdout.on("data", (chunk: Buffer) => (imageId += chunk.toString()));
  const [bootstrapCode, importCode] = await Promise.all([
    exitCode(bootstrap),
    exitCode(dockerImport),
    pipeline(bootstrap.stdout, dockerImport.stdin).catch((error: Error) => (errorText += error.message)),
  ]);
  if (bootstrapCode === 0 && importCode === 0) return imageId.trim();
  if (importCode === 0) await docker("image", "rm", imageId.trim());
  throw new Error(
    `Building a RabbitMQ image from Debian ${suite} failed (mmdebstrap ${bootstrapCode}, docker import ${importCode}):\n${errorText.trim().slice(-3000)}`,
  );
}

/** The exit code of a child process; 127 if it could not be started. */
async function exitCode(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
