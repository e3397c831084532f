import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Pool } from "pg";
import { createClient } from "redis";

import { until } from "../deployed-system.ts";

/**
 * A server of a test's own. Its files are in a folder that is deleted with it. It listens on a socket in that folder,
 * so it needs no port.
 */
interface StoreServer {
  /** The folder with the server's socket. */
  readonly folder: string;
  readonly stop: () => Promise<void>;
}

export async function startPostgresql(): Promise<StoreServer & { readonly connect: () => Pool }> {
  const initdb = found("initdb") ?? globSync("/usr/lib/postgresql/*/bin/initdb").toSorted().at(-1);
  const bin = initdb === undefined ? installed("PostgreSQL") : dirname(initdb);
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "redeliver-postgresql-"));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const made = spawnSync(join(bin, "initdb"), ["-D", data, "-U", "test", "-A", "trust", "--no-sync"], {
    ...user,
    cwd: folder,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"];
  const child = spawn(join(bin, "postgres"), settings, { ...user, cwd: folder, stdio: "ignore" });
  const connect = (): Pool => connectPostgresql(folder);
  return started(child, folder, { connect }, async () => {
    const pool = connect();
    try {
      await pool.query("select 1");
    } finally {
      await pool.end();
    }
  });
}

/** @param folder the server's; it works from another process too */
export function connectPostgresql(folder: string): Pool {
  return new Pool({ host: folder, user: "test", database: "postgres", max: 20 });
}

const redisClient = (path: string) => {
  const client = createClient({ socket: { path, tls: false, reconnectStrategy: false } });
  // Without a listener an error would end the process. The caller of the client also receives it.
  client.on("error", () => {});
  return client;
};

export async function startRedis(): Promise<StoreServer & { readonly connect: () => ReturnType<typeof redisClient> }> {
  const command = found("redis-server") ?? installed("Redis");
  const folder = mkdtempSync(join(tmpdir(), "redeliver-redis-"));
  const path = redisSocket(folder);
  const child = spawn(command, ["--port", "0", "--unixsocket", path, "--save", "", "--dir", folder], {
    stdio: "ignore",
  });
  const connect = () => connectRedis(folder);
  return started(child, folder, { connect }, async () => {
    const client = await connect().connect();
    client.destroy();
  });
}

/** @param folder the server's; it works from another process too */
export function connectRedis(folder: string): ReturnType<typeof redisClient> {
  return redisClient(redisSocket(folder));
}

function redisSocket(folder: string): string {
  return join(folder, "socket");
}

/** A command on the path. */
function found(command: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

async function started<Client>(
  child: ChildProcess,
  folder: string,
  client: Client,
  probe: () => Promise<unknown>,
): Promise<StoreServer & Client> {
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (): Promise<void> => {
    process.removeListener("exit", kill);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      // PostgreSQL then waits until its last client is gone, and a pool does not leave.
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(60_000, async () => {
      if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with code ${child.exitCode}`);
      return probe().then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, stop, ...client };
}

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout),
  );
  if (uid === undefined || gid === undefined || Number.isNaN(uid + gid)) return installed("PostgreSQL");
  return { uid, gid };
}

function installed(name: string): never {
  throw new Error(`${name} is not installed. \`npm run bootstrap -- --stores\` installs it.`);
}
