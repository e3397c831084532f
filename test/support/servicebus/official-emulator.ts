import { randomUUID } from "node:crypto";

import { docker } from "../broker-images.ts";

const emulatorImage = "mcr.microsoft.com/azure-messaging/servicebus-emulator:2.0.0";
/** It keeps its messages in a database of its own. */
const databaseImage = "mcr.microsoft.com/mssql/server:2022-latest";
const amqpPort = 5672;
const healthPort = 5300;

export interface OfficialEmulator {
  readonly connectionString: string;
  readonly stop: () => Promise<void>;
}

/** Why Microsoft's emulator cannot run here; null where it can. Its licence is for a person to accept. */
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

/** Starts Microsoft's emulator with a configuration file, and waits until it says that it is well. */
export async function startOfficialEmulator(config: object): Promise<OfficialEmulator> {
  const { GenericContainer, Network, Wait } = await import("testcontainers");
  const network = await new Network().start();
  const password = `A1!${randomUUID()}`;
  const database = await new GenericContainer(databaseImage)
    .withNetwork(network)
    .withNetworkAliases("database")
    .withEnvironment({ ACCEPT_EULA: "Y", MSSQL_SA_PASSWORD: password })
    .withWaitStrategy(Wait.forLogMessage(/SQL Server is now ready for client connections/))
    .withStartupTimeout(180_000)
    .start();
  const emulator = await new GenericContainer(emulatorImage)
    .withNetwork(network)
    .withEnvironment({ ACCEPT_EULA: "Y", MSSQL_SA_PASSWORD: password, SQL_SERVER: "database" })
    .withCopyContentToContainer([
      { content: JSON.stringify(config, null, 2), target: "/ServiceBus_Emulator/ConfigFiles/Config.json" },
    ])
    .withExposedPorts(amqpPort, healthPort)
    .withWaitStrategy(Wait.forHttp("/health", healthPort).forStatusCode(200))
    .withStartupTimeout(180_000)
    .start();
  const endpoint = `Endpoint=sb://127.0.0.1:${emulator.getMappedPort(amqpPort)}`;
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
