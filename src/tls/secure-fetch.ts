import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

import type { TlsOptions } from "./tls-options.ts";

/** The part of `fetch` that readers of a management API use. */
export type Fetch = (
  url: string,
  options: {
    /** GET by default. */
    readonly method?: string;
    readonly body?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/**
 * Makes a request with the user's certificates, which `fetch` takes only for the whole process. It follows no
 * redirects.
 */
export function fetchWith(tls: TlsOptions): Fetch {
  return async (url, { method = "GET", body, headers, signal }) =>
    new Promise((resolve, reject) => {
      const asking = request(url, { ...tls, method, headers, signal }, (answer) => {
        try {
          resolve(responseOf(answer));
        } catch (cause) {
          // An invalid status ends the request, not the process.
          answer.destroy();
          reject(cause as Error);
        }
      });
      asking.on("error", reject);
      asking.end(body);
    });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0 } = answer;
  const isEmpty = status === 204 || status === 205 || status === 304;
  // An unread answer would keep its socket.
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>), { status });
}
