import type { BodySchema, SchemaResult } from "./message.ts";

/** How a body is read before the handler gets it. */
export type BodyFormat = "json" | "text" | "bytes";

/** The body is none that the handler could be given. No retry makes it one. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/**
 * Reads a body, and lets the schema have its say.
 *
 * @returns the value; as a promise where the schema gives one
 * @throws UnreadableError, also for whatever the schema throws: it is no fault of the handler's, and would be the same next time
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
    throw new UnreadableError(`the body, ${body.length} bytes, is no UTF-8`);
  }
  if (format === "text") return text;
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the body.
    throw new UnreadableError(
      `the body, ${body.length} ${typeof body === "string" ? "characters" : "bytes"}, is no JSON`,
    );
  }
}

function accepted(result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  // What a schema says about a value may quote it, so only the number is passed on.
  throw new UnreadableError(`the body does not fit the schema: ${result.issues.length} issues`);
}
