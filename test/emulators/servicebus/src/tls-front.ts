import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

export interface TlsFront {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** For the host `localhost`, in PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Takes TLS for a plain AMQP server and a plain HTTP server. A client with a credential knows only a host name. */
export async function startTlsFront(
  ports: { readonly amqp: number; readonly https: number },
  { certificate, key }: TlsIdentity,
): Promise<TlsFront> {
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
