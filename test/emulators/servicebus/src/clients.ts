import { ServiceBusAdministrationClient, ServiceBusClient, type ServiceBusClientOptions } from "@azure/service-bus";

import type { ServicebusEmulator } from "./emulator.ts";

/**
 * The real SDK with the emulator behind it. Its own retries of an operation are short, so that a test soon sees an
 * error.
 */
export function createClient(
  { connectionString }: Pick<ServicebusEmulator, "connectionString">,
  options: ServiceBusClientOptions = {},
): ServiceBusClient {
  return new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 1, retryDelayInMs: 100 }, ...options });
}

/**
 * The SDK's client of the management API. It speaks only HTTPS, even if the connection string names another protocol.
 */
export function createAdministration({
  managementConnectionString,
}: Pick<ServicebusEmulator, "managementConnectionString">): ServiceBusAdministrationClient {
  const administration = new ServiceBusAdministrationClient(managementConnectionString);
  administration.pipeline.addPolicy(
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
  return administration;
}
