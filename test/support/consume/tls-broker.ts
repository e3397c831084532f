import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

import { selfSigned } from "../self-signed.ts";

/** A broker behind TLS. */
export interface TlsBroker {
  readonly url: string;
  /** The authority behind its certificate. */
  readonly ca: string;
  readonly close: () => Promise<void>;
}

/**
 * Takes TLS for a broker, with a self-signed certificate.
 *
 * @param asksForClient true if a client needs a certificate of its own
 */
export async function startTlsBroker(brokerUrl: string, asksForClient: boolean): Promise<TlsBroker> {
  const { certificate, key } = selfSigned("localhost");
  const open = new Set<TLSSocket>();
  const server = createServer(
    { cert: certificate, key, ca: certificate, requestCert: asksForClient, rejectUnauthorized: asksForClient },
    (client) => {
      open.add(client);
      const { hostname, port } = new URL(brokerUrl);
      const inner = connect(Number(port), hostname);
      for (const [one, other] of [
        [client, inner],
        [inner, client],
      ] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
        one.pipe(other);
      }
      client.on("close", () => open.delete(client));
    },
  );
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  const url = new URL(brokerUrl.replace(/^amqp:/, "amqps:"));
  url.hostname = "localhost";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    ca: certificate,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const client of open) client.destroy();
      await closed;
    },
  };
}
