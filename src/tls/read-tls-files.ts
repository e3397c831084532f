import { readFileSync } from "node:fs";

import { type TlsOptions, type TlsProblem, tlsProblemOf } from "./tls-options.ts";

/** Files in PEM. None holds the passphrase, because it would lie beside the key that it protects. */
export type TlsFiles = Pick<TlsOptions, "ca" | "cert" | "key">;

/** Reads certificates and a key, and checks if they fit together. */
export function readTlsFiles(
  files: TlsFiles,
  passphrase?: string,
): { readonly tls: TlsOptions } | { readonly problem: TlsProblem } {
  const tls: { -readonly [Part in keyof TlsOptions]: TlsOptions[Part] } = {};
  for (const part of ["ca", "cert", "key"] as const) {
    const file = files[part];
    if (file === undefined) continue;
    try {
      tls[part] = readFileSync(file, "utf8");
    } catch (cause) {
      return { problem: { part, message: reasonOf((cause as NodeJS.ErrnoException).code) } };
    }
  }
  // The environment may have a passphrase although there is no key.
  if (passphrase !== undefined && tls.key !== undefined) tls.passphrase = passphrase;
  const problem = tlsProblemOf(tls);
  return problem === null ? { tls } : { problem };
}

function reasonOf(code = "unknown"): string {
  if (code === "ENOENT") return "names no file that is there";
  return code === "EISDIR" ? "names a folder" : `names a file that cannot be read (${code})`;
}
