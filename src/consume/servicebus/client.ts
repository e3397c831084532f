import { isServiceBusError, ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";
import type { ServiceBusError } from "@azure/service-bus";

import type { ServicebusConnection } from "./connection.ts";

/** How long Service Bus may take to answer. */
export const answerWithinMs = 10_000;

/**
 * Nothing is tried again by the SDK: the runtime tries again itself, says so, and stops when it has to. A disposition that was in the air when
 * the connection went is waited for as long as an operation may take.
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

/** What the SDK has no public way to. */
interface Internals {
  readonly connection: {
    readonly once: (event: "disconnected", listener: (context: { readonly error?: unknown }) => void) => void;
    /** That of rhea, below it. */
    readonly _connection: { readonly dispatch: (event: "disconnected", context: { readonly error: Error }) => void };
  };
  /** Sessions that are held. */
  readonly messageSessions: Readonly<Record<string, { readonly close: () => Promise<void> }>>;
}

function internalsOf(client: ServiceBusClient): Internals {
  // oxlint-disable-next-line no-underscore-dangle -- it is private, and there is no other way
  return (client as unknown as { readonly _connectionContext: Internals })._connectionContext;
}

/**
 * Says once that the connection is gone. The SDK tells nobody and connects again, and settles what it received before on a link that is not there any
 * more: each settlement ends in a timeout, while the locks are renewed. Source: `settleMessageOperation` of @azure/service-bus 7.9.5, which
 * looks only at the name of the link.
 */
export function onceDisconnected(client: ServiceBusClient, listener: (cause: unknown) => void): void {
  const { connection } = internalsOf(client);
  connection.once("disconnected", ({ error }) => listener(error ?? new Error("the connection was closed")));
}

/**
 * Closes a client, and ends what is left of it: it would keep the process alive. Whoever has asked for a session waits for a minute, since that the
 * connection is gone is said only of one that nobody has closed; and one that was granted while the client was closing renews its lock for nobody.
 * Sources: rhea-promise 3.0.3, `Session.createReceiver`; 7.9.5, `ServiceBusClient.acceptNextSession`, which makes no receiver then and closes nothing.
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

/** Emulators have no certificate, and this version of the SDK knows HTTPS only. Source: azure-sdk-for-js, `ServiceBusAdministrationClient` 7.9. */
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
    // The signature is over the address that the client knows.
    { afterPhase: "Sign" },
  );
}

/** Where the consumer connects to, without the keys. */
export function hostOf(connection: ServicebusConnection): string {
  if (!("connectionString" in connection)) return connection.fullyQualifiedNamespace;
  return /Endpoint=sb:\/\/([^/;]*)/i.exec(connection.connectionString)?.[1] ?? "";
}

/** The code of an error of Service Bus; null for an error that is none of its own. */
export function codeOf(error: unknown): ServiceBusError["code"] | null {
  return isServiceBusError(error) ? error.code : null;
}
