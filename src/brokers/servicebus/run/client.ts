import { isServiceBusError, ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";
import type { ServiceBusError } from "@azure/service-bus";

import type { ServicebusConnection } from "./connection.ts";

/** The time limit for an answer of Service Bus. */
export const answerWithinMs = 10_000;

/**
 * The SDK may not retry: the runtime retries itself, reports it, and stops when it must. If the connection goes during
 * a settlement, the wait for it lasts as long as an operation may take.
 */
const retryOptions = {
  maxRetries: 0,
  retryDelayInMs: 250,
  maxRetryDelayInMs: 30_000,
  timeoutInMs: answerWithinMs,
} as const;

export function createClient(connection: ServicebusConnection): ServiceBusClient {
  return "connectionString" in connection
    ? new ServiceBusClient(connection.connectionString, { retryOptions })
    : new ServiceBusClient(connection.fullyQualifiedNamespace, connection.credential, { retryOptions });
}

/** Parts of the SDK without a public interface. */
interface Internals {
  readonly connection: {
    readonly once: (event: "disconnected", listener: (context: { readonly error?: unknown }) => void) => void;
    /** rhea's connection, below the SDK's. */
    readonly _connection: { readonly dispatch: (event: "disconnected", context: { readonly error: Error }) => void };
  };
  /** The sessions that the client holds. */
  readonly messageSessions: Readonly<Record<string, { readonly close: () => Promise<void> }>>;
}

function internalsOf(client: ServiceBusClient): Internals {
  // oxlint-disable-next-line no-underscore-dangle -- it is private, and there is no other way
  return (client as unknown as { readonly _connectionContext: Internals })._connectionContext;
}

/**
 * Reports once that the connection is gone. The SDK reports nothing and reconnects. It settles earlier messages on a
 * link that no longer exists: each settlement ends in a timeout, while the SDK renews the locks. Source:
 * `settleMessageOperation` of @azure/service-bus 7.9.5, which looks only at the name of the link.
 */
export function onceDisconnected(client: ServiceBusClient, listener: (cause: unknown) => void): void {
  const { connection } = internalsOf(client);
  connection.once("disconnected", ({ error }) => listener(error ?? new Error("the connection was closed")));
}

/**
 * Closes a client and the parts that would keep the process alive. A request for a session waits for a minute, because
 * the SDK reports a lost connection only if nothing has closed it. A session granted while the client closes keeps
 * renewing its lock in vain. Sources: rhea-promise 3.0.3, `Session.createReceiver`; 7.9.5,
 * `ServiceBusClient.acceptNextSession`, which makes no receiver then and closes nothing.
 */
export async function closeClient(client: ServiceBusClient): Promise<void> {
  const { connection, messageSessions } = internalsOf(client);
  await client.close().catch(() => undefined);
  // oxlint-disable-next-line no-underscore-dangle -- the same
  connection._connection.dispatch("disconnected", { error: new Error("the connection was closed") });
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(Object.values(messageSessions).map((session) => session.close().catch(() => undefined)));
}

export function createAdministration(connection: ServicebusConnection): ServiceBusAdministrationClient {
  if (!("connectionString" in connection))
    return new ServiceBusAdministrationClient(connection.fullyQualifiedNamespace, connection.credential);
  const { connectionString, managementConnectionString = connectionString } = connection;
  const administration = new ServiceBusAdministrationClient(managementConnectionString);
  if (/(^|;)\s*UseDevelopmentEmulator=true/i.test(managementConnectionString)) speakPlainHttp(administration);
  return administration;
}

/**
 * Emulators have no certificate, and this version of the SDK supports only HTTPS. Source: azure-sdk-for-js,
 * `ServiceBusAdministrationClient` 7.9.
 */
function speakPlainHttp({ pipeline }: ServiceBusAdministrationClient): void {
  pipeline.addPolicy(
    {
      name: "plainHttp",
      sendRequest: async (request, next) => {
        request.url = request.url.replace(/^https:/, "http:");
        request.allowInsecureConnection = true;
        return next(request);
      },
    },
    // The signature covers the address that the client knows.
    { afterPhase: "Sign" },
  );
}

/** The host that the consumer connects to, without the keys. */
export function hostOf(connection: ServicebusConnection): string {
  if (!("connectionString" in connection)) return connection.fullyQualifiedNamespace;
  return /Endpoint=sb:\/\/([^/;]*)/i.exec(connection.connectionString)?.[1] ?? "";
}

/** The code of a Service Bus error. Null for any other error. */
export function codeOf(error: unknown): ServiceBusError["code"] | null {
  return isServiceBusError(error) ? error.code : null;
}
