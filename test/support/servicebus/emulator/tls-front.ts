import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";

import { selfSigned } from "./self-signed.ts";

export interface TlsFront {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

let made: ReturnType<typeof selfSigned> | undefined;

/** One for the process: of several with one name only the first would be looked at. */
function trusted(): ReturnType<typeof selfSigned> {
  if (made !== undefined) return made;
  made = selfSigned("localhost");
  setDefaultCACertificates([...getCACertificates("default"), made.certificate]);
  return made;
}

/**
 * Takes TLS for a plain AMQP server and a plain HTTP server: whoever connects with a credential knows a host, and no other way. This process trusts it
 * from then on.
 */
export async function startTlsFront(ports: { readonly amqp: number; readonly https: number }): Promise<TlsFront> {
  const { certificate, key } = trusted();
  const open = new Set<TLSSocket>();
  const server = createServer({ cert: certificate, key }, (client) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    client.on("error", () => client.destroy());
    client.once("data", (first: Buffer) => {
      const isAmqp = first.subarray(0, 4).toString() === "AMQP";
      const inner = connect(isAmqp ? ports.amqp : ports.https, "127.0.0.1");
      inner.on("error", () => client.destroy());
      inner.on("close", () => client.destroy());
      client.on("close", () => inner.destroy());
      inner.write(first);
      client.pipe(inner).pipe(client);
    });
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const client of open) client.destroy();
      await closed;
    },
  };
}
