import { randomUUID } from "node:crypto";

import { docker } from "../broker-images.ts";

const emulatorImage = "mcr.microsoft.com/azure-messaging/servicebus-emulator:2.0.1";
/** The emulator keeps its messages in a database of its own. */
const databaseImage = "mcr.microsoft.com/mssql/server:2022-CU14-ubuntu-22.04";
const amqpPort = 5672;
const healthPort = 5300;

export interface OfficialEmulator {
  readonly connectionString: string;
  readonly stop: () => Promise<void>;
}

/** The reason that Microsoft's emulator cannot run here; null if it can. A person has to accept its licence. */
export async function whyNot(): Promise<string | null> {
  if (process.env["ACCEPT_EULA"] !== "Y") return "its licence is not accepted (ACCEPT_EULA=Y)";
  for (const image of [databaseImage, emulatorImage]) {
    const problem = await docker("pull", "--quiet", image).then(
      () => null,
      (error: Error) => error.message.trim().split("\n").at(-1) ?? "",
    );
    if (problem !== null) return `Docker cannot pull ${image}: ${problem}`;
  }
  return null;
}

/**
 * Starts Microsoft's emulator with a configuration file, and waits until it reports that it is healthy. Images, waits
 * and variables follow the Testcontainers module for it, `@testcontainers/azureservicebus` 12.1.
 */
export async function startOfficialEmulator(config: object): Promise<OfficialEmulator> {
  const { GenericContainer, Network, Wait } = await import("testcontainers");
  const network = await new Network().start();
  const password = `A1!${randomUUID()}`;
  const database = await new GenericContainer(databaseImage)
    .withNetwork(network)
    .withNetworkAliases("database")
    .withEnvironment({ ACCEPT_EULA: "Y", MSSQL_SA_PASSWORD: password })
    .withWaitStrategy(Wait.forLogMessage(/Recovery is complete/))
    .withStartupTimeout(180_000)
    .start();
  const emulator = await new GenericContainer(emulatorImage)
    .withNetwork(network)
    // By default it waits 15 seconds for the database, which is there already.
    .withEnvironment({ ACCEPT_EULA: "Y", MSSQL_SA_PASSWORD: password, SQL_SERVER: "database", SQL_WAIT_INTERVAL: "0" })
    .withCopyContentToContainer([
      {
        content: JSON.stringify(config, null, 2),
        target: "/ServiceBus_Emulator/ConfigFiles/Config.json",
        // It does not run as root.
        mode: 0o644,
      },
    ])
    .withExposedPorts(amqpPort, healthPort)
    .withWaitStrategy(Wait.forHttp("/health", healthPort).forStatusCode(200))
    .withStartupTimeout(180_000)
    .start();
  const endpoint = `Endpoint=sb://${emulator.getHost()}:${emulator.getMappedPort(amqpPort)}`;
  const key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE";
  return {
    connectionString: `${endpoint};${key};UseDevelopmentEmulator=true;`,
    stop: async () => {
      await emulator.stop();
      await database.stop();
      await network.stop();
    },
  };
}
