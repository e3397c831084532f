import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/**
 * An empty folder, which is deleted when the tests of the file have run.
 *
 * @param atEnd deletes it earlier: the `onTestFinished` of one test
 */
export function temporaryFolder(name: string, atEnd: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), `redeliver-${name}-`));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
