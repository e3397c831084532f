import { createRequire } from "node:module";
import { dirname, join } from "node:path";

type Opened = (error: unknown, ok?: unknown) => void;

/** The class behind amqplib's connections, which amqplib does not export. */
interface Connection {
  readonly on: (event: "error" | "close", listener: (error: unknown) => void) => void;
  readonly off: (event: "error" | "close", listener: (error: unknown) => void) => void;
}
interface ConnectionClass {
  readonly prototype: Connection & { open: (this: Connection, fields: unknown, opened: Opened) => void };
}

const mended = new WeakSet<ConnectionClass>();

/**
 * A broker may close a connection right after it opens it, for example when it is being stopped. In version 2.3 amqplib
 * then emits the error before its caller has the connection. An error without a listener ends the process. So this
 * listens while the connection opens, and passes the error to the caller. Source: amqplib, `lib/connection.js`,
 * `succeed`, which reads on before it calls back.
 *
 * If amqplib's files cannot be found, for example in a bundled program, amqplib stays as it is.
 */
export function hearErrorsWhileOpening(): void {
  const connectionClass = findConnectionClass();
  if (connectionClass === null || mended.has(connectionClass)) return;
  mended.add(connectionClass);
  const { prototype } = connectionClass;
  const { open } = prototype;
  prototype.open = function (fields, opened) {
    let heard: { readonly error: unknown } | null = null;
    const hear = (error: unknown): void => {
      heard ??= { error };
    };
    const hearClose = (error: unknown): void =>
      hear(error ?? new Error("the broker has closed the connection at once"));
    this.on("error", hear);
    this.on("close", hearClose);
    const callBack = (error: unknown, ok: unknown): void => {
      if (heard === null) opened(error, ok);
      else opened(error ?? heard.error);
      // The caller listens once the promises of this turn have resolved.
      setImmediate(() => {
        this.off("error", hear);
        this.off("close", hearClose);
      });
    };
    // By then the frames of the same packet have been read.
    open.call(this, fields, (error, ok) => void setImmediate(callBack, error, ok));
  };
}

function findConnectionClass(): ConnectionClass | null {
  try {
    const require = createRequire(import.meta.url);
    const path = join(dirname(require.resolve("amqplib")), "lib", "connection.js");
    return (require(path) as { readonly Connection: ConnectionClass }).Connection;
  } catch {
    return null;
  }
}
