import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { onTestFinished } from "vitest";

/** A server on a port of its own, for behaviour that no real broker shows on demand. */
export interface FakeBroker {
  readonly port: number;
  /** The requests so far, as method and path. */
  readonly requests: readonly string[];
  /** The `authorization` headers of the requests. */
  readonly credentials: readonly string[];
  close(): Promise<void>;
}

export async function startFakeBroker(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<FakeBroker> {
  const requests: string[] = [];
  const credentials: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const [, encoded = ""] = (request.headers.authorization ?? "").split(" ");
    credentials.push(Buffer.from(encoded, "base64").toString());
    answer(request.url ?? "", response, request);
  });
  const port = await listen(server);
  return {
    port,
    requests,
    credentials,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Lets a server listen until the test ends. @returns its port */
export async function serveUntilEnd(server: NetServer, host = "127.0.0.1"): Promise<number> {
  onTestFinished(() => {
    if ("closeAllConnections" in server) (server as Server).closeAllConnections();
    server.close();
  });
  return listen(server, host);
}

async function listen(server: NetServer, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A port that was free a moment ago. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** A broker with one virtual host and the given lists. */
export function answersOf(
  lists: Readonly<Record<string, readonly object[]>> = {},
): (path: string, response: ServerResponse) => void {
  return (path, response) => {
    const name = /^\/api\/([a-z-]+)/.exec(path)?.[1] ?? "";
    const own: Record<string, unknown> = {
      overview: { rabbitmq_version: "4.3.6" },
      vhosts: [{ name: "/" }],
      exchanges: [{ name: "amq.direct", vhost: "/", type: "direct", arguments: {} }],
    };
    sendJson(response, lists[name] ?? own[name] ?? []);
  };
}

/**
 * The broker's own words for a user that it refuses. Source: `rabbit_web_dispatch_access_control:not_authenticated/4`.
 */
export function refuseLogin(_path: string, response: ServerResponse): void {
  sendJson(response, { error: "not_authorized", reason: "Not_Authorized" }, 401);
}
