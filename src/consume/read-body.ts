import type { BodySchema, SchemaResult } from "./message.ts";

/** The form in which the handler gets a body. */
export type BodyFormat = "json" | "text" | "bytes";

/** The body cannot be given to the handler. No retry changes that. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/**
 * Reads a body and validates it by the schema.
 *
 * @returns the value, or a promise if the schema returns one
 * @throws UnreadableError, also for any error of the schema: the handler is not at fault, and the next attempt would
 *   fail alike
 */
export function readBody(body: Uint8Array | string, format: BodyFormat, schema: BodySchema | null): unknown {
  const value = decode(body, format);
  if (schema === null) return value;
  let result: SchemaResult<unknown> | Promise<SchemaResult<unknown>>;
  try {
    result = schema["~standard"].validate(value);
  } catch (cause) {
    throw thrownBySchema(cause);
  }
  if (!(result instanceof Promise)) return accepted(result);
  return result.then(accepted, (cause: unknown) => {
    throw thrownBySchema(cause);
  });
}

function thrownBySchema(cause: unknown): UnreadableError {
  return new UnreadableError("the schema threw an error", { cause });
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

function decode(body: Uint8Array | string, format: BodyFormat): unknown {
  if (format === "bytes") return typeof body === "string" ? Buffer.from(body) : body;
  let text: string;
  try {
    text = typeof body === "string" ? body : strictUtf8.decode(body);
  } catch {
    throw new UnreadableError(`the body, ${body.length} bytes, is not UTF-8`);
  }
  if (format === "text") return text;
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the body, so it is not passed on.
    throw new UnreadableError(
      `the body, ${body.length} ${typeof body === "string" ? "characters" : "bytes"}, is not JSON`,
    );
  }
}

function accepted(result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  // A schema's messages may quote the value, so only their number is passed on.
  throw new UnreadableError(`the body does not fit the schema: ${result.issues.length} issues`);
}
