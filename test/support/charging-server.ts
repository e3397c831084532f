import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The API that the examples charge orders with. */
export interface ChargingServer {
  readonly url: string;
  readonly stop: () => void;
}

/** @param answer gives the status for a request's path and body */
export async function startChargingServer(answer: (path: string, body: string) => number): Promise<ChargingServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.writeHead(answer(request.url ?? "", Buffer.concat(parts).toString()), { "retry-after": "1" });
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() };
}
