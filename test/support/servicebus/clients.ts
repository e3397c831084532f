import { ServiceBusAdministrationClient, ServiceBusClient, type ServiceBusClientOptions } from "@azure/service-bus";

import type { ServicebusEmulator } from "./emulator/emulator.ts";

/** The SDK as it is, with the emulator behind it. Its own retries of an operation are short, so that a test sees an error soon. */
export function createClient(
  { connectionString }: Pick<ServicebusEmulator, "connectionString">,
  options: ServiceBusClientOptions = {},
): ServiceBusClient {
  return new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 1, retryDelayInMs: 100 }, ...options });
}

/** The SDK's client of the management API. It knows HTTPS only, whatever the connection string says. */
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
    // The signature is over the address that the client knows.
    { afterPhase: "Sign" },
  );
  return administration;
}
