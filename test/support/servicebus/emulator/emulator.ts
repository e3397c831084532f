import { type AmqpServer, startAmqpServer } from "./amqp-server.ts";
import { startManagementServer } from "./management-server.ts";
import { Namespace } from "./namespace.ts";
import type { Watcher } from "./watcher.ts";

/** Service Bus in this process, for the unmodified SDK. */
export interface ServicebusEmulator {
  /** For a `ServiceBusClient`. */
  readonly connectionString: string;
  /** For a `ServiceBusAdministrationClient`, which speaks HTTPS unless it is told otherwise. */
  readonly managementConnectionString: string;
  /** How many clients were connected at a time, at most, since it is online. */
  readonly mostConnections: () => number;
  /** From now on, in place of whoever watched before. */
  readonly watch: (watcher: Watcher) => void;
  /** Cuts every connection, as a network does. What clients held stays locked. */
  readonly dropConnections: () => void;
  /** Nobody can connect any more, until it goes on at the same port. Time goes on, and messages stay. */
  readonly goOffline: () => Promise<void>;
  readonly goOnline: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts an emulator with nothing in it. Time is the clock's. */
export async function startEmulator(): Promise<ServicebusEmulator> {
  const namespace = new Namespace();
  let amqp: AmqpServer | null = await startAmqpServer(namespace, 0);
  const { port } = amqp;
  const management = await startManagementServer(namespace, 0);
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
    stop: async () => {
      await Promise.all([goOffline(), management.stop()]);
      namespace.close();
    },
  };
}

/** The name and the key are those of Microsoft's own emulator. */
function connectionStringFor(port: number): string {
  const key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE";
  return `Endpoint=sb://127.0.0.1:${port};${key};UseDevelopmentEmulator=true;`;
}
