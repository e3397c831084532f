import { existsSync } from "node:fs";
import { join } from "node:path";
import { elasticMqFolder, elasticMqVersion, motoPython, motoVersion } from "../../../scripts/sqs-emulators.mjs";
import { accountId, region } from "./clients.ts";
import { type ServerProcess, startServer } from "./emulator-process.ts";

export const emulatorNames = ["elasticmq", "moto"] as const;
export type EmulatorName = (typeof emulatorNames)[number];

/** A running emulator for tests. It is plain data, so that it can go to a test worker. */
export interface SqsEmulator {
  /** "other" is an endpoint from the environment. Its gaps are unknown. */
  readonly name: EmulatorName | "other";
  /** The installed version; "unknown" for an endpoint from the environment. */
  readonly version: string;
  /** Without a slash at its end. moto also answers for SNS there; ElasticMQ has no SNS. */
  readonly endpoint: string;
}

/** An emulator of a test's own. Each test stops the emulators that it starts. A forgotten one ends with the process. */
export interface StartedEmulator extends SqsEmulator {
  readonly stop: () => Promise<void>;
}

/** Starts every emulator, or takes the endpoint that SQS_ENDPOINT names, which the tests never stop. */
export async function startEmulators(): Promise<readonly StartedEmulator[]> {
  const fromEnvironment = process.env["SQS_ENDPOINT"];
  if (fromEnvironment !== undefined) return [await identify(fromEnvironment.replace(/\/+$/, ""))];
  const outcomes = await Promise.allSettled([startElasticMq(), startMoto()]);
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as Error] : []));
  const started = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  if (failures.length === 0) return started;
  await Promise.all(started.map(async ({ stop }) => stop()));
  // Both give the same message if neither is installed.
  throw new Error([...new Set(failures.map(({ message }) => message))].join("\n"));
}

/**
 * The place of an ElasticMQ's data, so that a test can kill it and start it again: at this port, and in this folder.
 */
interface KeptPlace {
  readonly port: number;
  readonly folder: string;
}

/**
 * ElasticMQ with AWS's limits. Its queue URLs repeat the host of each request, so it does not need to know its port
 * before.
 *
 * @param kept keeps its data and receives for the next start; without it, all data is in memory
 */
export async function startElasticMq(kept?: KeptPlace): Promise<StartedEmulator> {
  requireInstalled(elasticMqFolder);
  const settings = {
    "node-address.host": "*",
    "rest-sqs.bind-port": String(kept?.port ?? 0),
    "rest-sqs.bind-hostname": "127.0.0.1",
    "rest-sqs.sqs-limits": "strict",
    "rest-stats.enabled": "false",
    "aws.region": region,
    "aws.accountId": accountId,
    ...(kept === undefined ? {} : storageIn(kept)),
  };
  const server = await startServer({
    name: `ElasticMQ ${elasticMqVersion}`,
    command: "java",
    // A small machine's settings: one collector thread and the quick compiler halve the start.
    arguments: ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m"].concat(
      Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
      ["-cp", join(elasticMqFolder, "*"), "org.elasticmq.server.Main"],
    ),
    portInLog: /bind address 127\.0\.0\.1:(\d+)/,
    readyPath: "/health",
  });
  return describe("elasticmq", elasticMqVersion, server);
}

/** A database in a file. By default H2 writes a commit half a second later, so it is told to write at once. */
function storageIn({ folder }: KeptPlace): Readonly<Record<string, string>> {
  const uri = `jdbc:h2:${join(folder, "messages")};WRITE_DELAY=0`;
  return { "messages-storage.enabled": "true", "messages-storage.uri": uri };
}

/** moto as a server of its own: SQS, SNS and most else of AWS behind one port. */
export async function startMoto(): Promise<StartedEmulator> {
  requireInstalled(motoPython);
  const server = await startServer({
    name: `moto ${motoVersion}`,
    command: motoPython,
    arguments: [join(import.meta.dirname, "moto-server.py"), "-H", "127.0.0.1", "-p", "0"],
    // Without the account, names in its ARNs would differ from ElasticMQ's. Without the other, Python buffers its log.
    environment: { MOTO_ACCOUNT_ID: accountId, PYTHONUNBUFFERED: "1" },
    portInLog: /Running on http:\/\/127\.0\.0\.1:(\d+)/,
    readyPath: "/moto-api/",
  });
  return describe("moto", motoVersion, server);
}

function describe(name: EmulatorName, version: string, { endpoint, stop }: ServerProcess): StartedEmulator {
  return { name, version, endpoint, stop };
}

function requireInstalled(path: string): void {
  if (!existsSync(path))
    throw new Error(
      "The emulators of SQS are not installed. `npm run bootstrap -- --sqs` installs them; or name another endpoint in SQS_ENDPOINT.",
    );
}

/** Finds out the emulator at an endpoint, because its gaps are then known. */
async function identify(endpoint: string): Promise<StartedEmulator> {
  const isThere = async (path: string): Promise<boolean> =>
    (await fetch(`${endpoint}${path}`, { signal: AbortSignal.timeout(10_000) })).ok;
  const name = (await isThere("/moto-api/")) ? "moto" : (await isThere("/health")) ? "elasticmq" : "other";
  return { name, version: "unknown", endpoint, stop: async () => {} };
}
