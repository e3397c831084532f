import { readFile } from "node:fs/promises";

import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/** The text of a file, whatever its name is. */
export async function readText(file: string): Promise<Checked<string>> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => cause);
  if (typeof text === "string") return { ok: true, value: text, warnings: [] };
  return { ok: false, diagnostics: [diagnostic("RD001", { path: "", ...reasonOf(text.code ?? text.name) })] };
}

function reasonOf(code: string): { readonly message: string; readonly help: string } {
  switch (code) {
    case "ENOENT":
      return { message: "there is no such file", help: "check the path" };
    case "EISDIR":
      return { message: "this is not a file", help: "name the file in it" };
    // The longest text that there can be has 512 MiB.
    case "ERR_STRING_TOO_LONG":
    case "ERR_FS_FILE_TOO_LARGE":
      return { message: "the file is larger than 512 MiB", help: "export one virtual host at a time" };
    default:
      return { message: `the file cannot be read: ${code}`, help: "check its permissions" };
  }
}
