import { randomUUID } from "node:crypto";
import { type Stats, constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** The time that a reader of a pipe may leave it full. */
const patienceMs = 30_000;

/** The reason that a file cannot be written, in words of our own. The system's words repeat the path. */
export class UnwritableError extends Error {
  override readonly name = "UnwritableError";
}

/**
 * Writes a file and its folders. The text goes into a neighbour, and then the neighbour is renamed. So a failure leaves
 * the old file intact. If the neighbour cannot be created or renamed, the file itself is rewritten. A special file,
 * such as a pipe or a terminal, is written directly.
 *
 * @throws UnwritableError
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  try {
    const found = await statOf(file);
    if (found === null) await replace(file, text, null);
    else if (found.isFile()) await replaceOrRewrite(await realpath(file), text, found);
    else await writeThrough(file, text, 0);
  } catch (cause) {
    throw new UnwritableError(reasonOf(cause), { cause });
  }
}

/** A file may be writable although its folder is not, such as a file mounted into a container. */
async function replaceOrRewrite(file: string, text: string, found: Stats): Promise<void> {
  await replace(file, text, found).catch(async (cause: NodeJS.ErrnoException) => {
    if (!["EACCES", "EPERM", "EROFS", "EBUSY"].includes(cause.code ?? "")) throw cause;
    await writeThrough(file, text, constants.O_TRUNC);
  });
}

async function replace(file: string, text: string, found: Stats | null): Promise<void> {
  await makeFolder(dirname(resolve(file)));
  const neighbour = join(dirname(file), `.redeliver-${randomUUID()}`);
  const handle = await open(neighbour, "wx");
  try {
    await closing(handle, async () => {
      await handle.writeFile(text);
      if (found !== null) await handle.chmod(found.mode & 0o777);
    });
    await rename(neighbour, file);
  } catch (cause) {
    await unlink(neighbour).catch(() => undefined);
    throw cause;
  }
}

/** Opens without waiting, because opening a pipe without a reader would take forever. */
async function writeThrough(file: string, text: string, flags: number): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0) | flags);
  await closing(handle, async () => {
    const bytes = Buffer.from(text);
    let lastAtMs = performance.now();
    for (let at = 0; at < bytes.length;) {
      const written = await handle.write(bytes, at).catch((cause: NodeJS.ErrnoException) => cause);
      if (!(written instanceof Error)) {
        at += written.bytesWritten;
        lastAtMs = performance.now();
      } else if (written.code === "EAGAIN" && performance.now() - lastAtMs < patienceMs) await wait(20);
      else throw written;
    }
  });
}

async function closing(handle: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await handle.close();
  }
}

/** Folder by folder. Node's own way of making several never returns below a folder such as /proc. */
async function makeFolder(folder: string): Promise<void> {
  const found = await statOf(folder);
  if (found?.isDirectory() === true) return;
  if (found !== null) throw Object.assign(new Error("no folder"), { code: "ENOTDIR" });
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
  });
}

async function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return null;
    throw cause;
  });
}

const reasons: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  ENOENT: "no file can be made there",
  ENXIO: "no program reads it",
  EAGAIN: `its reader has read nothing for ${patienceMs / 1_000} s`,
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  EACCES: "it is not permitted",
  EPERM: "it is not permitted",
};

function reasonOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return reasons[code ?? ""] ?? code ?? String(cause);
}
