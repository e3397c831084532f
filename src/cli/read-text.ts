import { closeSync, openSync, readSync } from "node:fs";

import { type Checked, accepted, refusedFor } from "../diagnostics/diagnostic.ts";

/** The longest text in Node. Source: `v8::String::kMaxLength`. A pipe or a device may have no end. */
const mostBytes = 2 ** 29 - 24;
const atOnce = 2 ** 20;
const tooLarge = "ERR_FS_FILE_TOO_LARGE";
const utf16 = "UTF-16";
export const standardInput = 0;

/** The text of a file with any name; or the reason that it is unreadable. */
export function readText(file: string | typeof standardInput): Checked<string> {
  const read = readOrCode(file);
  if ("text" in read) return accepted(read.text);
  return refusedFor("RD001", { path: "", ...reasonOf(read.code) });
}

/** The text of a file, or the code of the error. */
export function readOrCode(file: string | typeof standardInput): { readonly text: string } | { readonly code: string } {
  let opened: number | undefined;
  try {
    opened = file === standardInput ? standardInput : openSync(file, "r");
    const pieces: Buffer[] = [];
    let size = 0;
    for (let piece = readPiece(opened); piece.length > 0; piece = readPiece(opened)) {
      pieces.push(piece);
      size += piece.length;
      if (size > mostBytes) return { code: tooLarge };
    }
    const bytes = Buffer.concat(pieces);
    return isUtf16(bytes) ? { code: utf16 } : { text: bytes.toString("utf8") };
  } catch (cause) {
    return { code: (cause as NodeJS.ErrnoException).code ?? "unknown" };
  } finally {
    if (opened !== undefined && opened !== standardInput) closeSync(opened);
  }
}

/** True for text that begins with the byte order mark of UTF-16, as PowerShell 5 writes it. */
function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function readPiece(opened: number): Buffer {
  const piece = Buffer.allocUnsafe(atOnce);
  for (;;) {
    try {
      return piece.subarray(0, readSync(opened, piece));
    } catch (cause) {
      // A non-blocking standard input has no data yet.
      if ((cause as NodeJS.ErrnoException).code !== "EAGAIN") throw cause;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/** The reason that a file is unreadable, and a fix. */
export function reasonOf(code: string): { readonly message: string; readonly help: string } {
  switch (code) {
    case "ENOENT":
      return { message: "there is no such file", help: "check the path" };
    case "EISDIR":
      return { message: "this is not a file", help: "name the file in it" };
    // The longest text in Node has 512 MiB.
    case "ERR_STRING_TOO_LONG":
    case tooLarge:
      return { message: "the file is larger than 512 MiB", help: "export one virtual host at a time" };
    case utf16:
      return { message: "the file is in UTF-16", help: "save it as UTF-8; in PowerShell, use Out-File -Encoding utf8" };
    default:
      return { message: `the file cannot be read: ${code}`, help: "check its permissions" };
  }
}
