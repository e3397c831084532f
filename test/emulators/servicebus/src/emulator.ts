import type { Right } from "./access.ts";
import { type AmqpServer, startAmqpServer } from "./amqp-server.ts";
import { startManagementServer } from "./management-server.ts";
import { Namespace } from "./namespace.ts";
import type { Sku } from "./redeliver.ts";
import { startTlsFront, type TlsFront, type TlsIdentity } from "./tls-front.ts";
import type { Watcher } from "./watcher.ts";

/** Service Bus in this process, for the unmodified SDK. */
export interface ServicebusEmulator {
  /** For a `ServiceBusClient`. */
  readonly connectionString: string;
  /** For a `ServiceBusAdministrationClient`, which speaks HTTPS by default. */
  readonly managementConnectionString: string;
  /** The most clients that were connected at a time, since it is online. */
  readonly mostConnections: () => number;
  /** Replaces the watcher from now on. */
  readonly watch: (watcher: Watcher) => void;
  /** Cuts every connection, like a network failure. Locks of the clients remain. */
  readonly dropConnections: () => void;
  /** Refuses every connection until the emulator goes online at the same port. Time goes on, and messages stay. */
  readonly goOffline: () => Promise<void>;
  readonly goOnline: () => Promise<void>;
  /** Adds a shared access key. @returns the connection string for it */
  readonly addKey: (name: string, rights: readonly Right[]) => string;
  /** A token as Microsoft Entra gives it out, for an identity with these rights. */
  readonly issueToken: (rights: readonly Right[], lifeMs: number) => string;
  /** Gives the address for `fullyQualifiedNamespace` with TLS, for messages and for the management API. */
  readonly serveTls: (identity: TlsIdentity) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts an empty emulator of a tier. It runs on real time. */
export async function startEmulator(sku: Sku): Promise<ServicebusEmulator> {
  const namespace = new Namespace(sku);
  let amqp: AmqpServer | null = await startAmqpServer(namespace, 0);
  const { port } = amqp;
  const management = await startManagementServer(namespace, 0);
  let front: TlsFront | null = null;
  const goOffline = async (): Promise<void> => {
    await amqp?.stop();
    amqp = null;
  };
  return {
    connectionString: connectionStringFor(port),
    managementConnectionString: connectionStringFor(management.port),
    mostConnections: () => amqp?.mostConnections() ?? 0,
    watch: (watcher) => {
      namespace.watcher = watcher;
    },
    dropConnections: () => amqp?.dropConnections(),
    goOffline,
    goOnline: async () => {
      amqp ??= await startAmqpServer(namespace, port);
    },
    addKey: (name, rights) => {
      const key = `${name} of a test`;
      namespace.access.addKey(name, key, rights);
      return connectionStringFor(port, name, key);
    },
    issueToken: (rights, lifeMs) => namespace.access.issueToken(rights, lifeMs),
    serveTls: async (identity) => {
      front ??= await startTlsFront({ amqp: port, https: management.port }, identity);
      return `localhost:${front.port}`;
    },
    stop: async () => {
      await Promise.all([goOffline(), management.stop(), front?.stop()]);
      namespace.close();
    },
  };
}

/** The default name and key are those of Microsoft's own emulator. */
function connectionStringFor(port: number, name = "RootManageSharedAccessKey", key = "SAS_KEY_VALUE"): string {
  return `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=${name};SharedAccessKey=${key};UseDevelopmentEmulator=true;`;
}
