import type { TestProject } from "vitest/node";
import { removeAbandonedContainers, type StartedBroker, startBroker, waitUntilReady } from "./broker-containers.ts";
import { brokerVersions, docker } from "./broker-images.ts";
import type { Broker } from "./live.ts";
import { createManagement } from "./management.ts";

/**
 * Provides the brokers of the live tests: the one that the environment names, or a container of each supported version.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = createReport();
  const fromEnvironment = await findBrokerInEnvironment();
  if (fromEnvironment !== undefined) {
    report(
      `RabbitMQ ${fromEnvironment.fullVersion} from RABBITMQ_URL: only what applies to ${fromEnvironment.version} runs`,
    );
    project.provide("brokers", [fromEnvironment]);
    return async () => {};
  }
  const started = await startBrokers(report);
  project.provide(
    "brokers",
    started.map(({ broker }) => broker),
  );
  return async () => {
    await Promise.all(started.map(async ({ stop }) => stop()));
  };
}

type Report = (text: string) => void;

function createReport(): Report {
  const startedAt = performance.now();
  return (text) =>
    console.log(`[brokers ${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s] ${text}`);
}

async function findBrokerInEnvironment(): Promise<Broker | undefined> {
  const { RABBITMQ_URL: amqpUrl, RABBITMQ_MANAGEMENT_URL: managementUrl } = process.env;
  if (amqpUrl === undefined && managementUrl === undefined) return undefined;
  if (amqpUrl === undefined || managementUrl === undefined)
    throw new Error("RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL must be set together, or neither.");
  await waitUntilReady(managementUrl, amqpUrl, 10_000);
  const { rabbitmq_version: fullVersion } = await createManagement(managementUrl).overview();
  const version = fullVersion.split(".").slice(0, 2).join(".");
  return { version, fullVersion, amqpUrl, managementUrl, origin: "environment" };
}

async function startBrokers(report: Report): Promise<readonly StartedBroker[]> {
  await requireDocker();
  await removeAbandonedContainers();
  report(`starting RabbitMQ ${brokerVersions.join(", ")}`);
  // All at once, images included: on two cores, three builds side by side take 41 s, one after the other 66 s.
  const outcomes = await Promise.allSettled(
    brokerVersions.map(async (version) => {
      const started = await startBroker(version, report);
      const { fullVersion, origin, amqpUrl, managementUrl } = started.broker;
      report(
        `RabbitMQ ${fullVersion} is ready (${origin} image; amqp ${new URL(amqpUrl).port}, management ${new URL(managementUrl).port})`,
      );
      return started;
    }),
  );
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as Error] : []));
  // The started ones end with this process, which ends after this error.
  if (failures.length > 0)
    throw new Error(
      `The brokers of the live tests did not start:\n${failures.map(({ message }) => message).join("\n")}`,
    );
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
}

async function requireDocker(): Promise<void> {
  await docker("version", "--format", "{{.Server.Version}}").catch((error: Error) => {
    throw new Error(
      "The live tests need a Docker daemon, or a broker named by RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL. " +
        `\`npm run bootstrap -- --docker\` sets one up where it can. Docker said: ${error.message}`,
    );
  });
}
