// The Java clients for running the snippets of the contract pages, and a compiler for them.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheFolder, installJars } from "./cache-folder.mjs";
import { BootstrapError, canInstallDebianPackages, installDebianPackages, isOnPath, say } from "./machine.mjs";

const springBootVersion = "4.1.1";
const springCloudAwsVersion = "4.1.0";
const serviceBusVersion = "7.17.20";
const amqpClientVersion = "1.5.0";
const compiler = ["org.eclipse.jdt", "ecj", "3.42.0"];

/**
 * Folders with the jars and all their dependencies. The name changes with the content, because an existing folder
 * counts as complete.
 */
export const springClientsFolder = join(cacheFolder, `java-clients-spring-boot-${springBootVersion}`);
export const springCloudAwsFolder = join(cacheFolder, `java-client-spring-cloud-aws-${springCloudAwsVersion}`);
export const serviceBusClientFolder = join(cacheFolder, `java-client-servicebus-${serviceBusVersion}`);
export const amqpClientFolder = join(cacheFolder, `java-client-amqp-${amqpClientVersion}`);

const clients = [
  {
    name: `Spring Boot ${springBootVersion}`,
    folder: springClientsFolder,
    artifacts: [["org.springframework.boot", "spring-boot-starter-amqp", springBootVersion], compiler],
  },
  {
    name: `Spring Cloud AWS ${springCloudAwsVersion}`,
    folder: springCloudAwsFolder,
    artifacts: [
      ["io.awspring.cloud", "spring-cloud-aws-starter-sqs", springCloudAwsVersion],
      // The version that belongs to its Spring Boot. Its own configuration asks for JSON.
      ["org.springframework.boot", "spring-boot-starter-jackson", "4.0.7"],
      compiler,
    ],
  },
  {
    name: `azure-messaging-servicebus ${serviceBusVersion}`,
    folder: serviceBusClientFolder,
    artifacts: [
      ["com.azure", "azure-messaging-servicebus", serviceBusVersion],
      ["org.slf4j", "slf4j-simple", "2.0.17"],
      compiler,
    ],
  },
  {
    name: `RabbitMQ's amqp-client ${amqpClientVersion}`,
    folder: amqpClientFolder,
    artifacts: [
      ["com.rabbitmq.client", "amqp-client", amqpClientVersion],
      ["org.slf4j", "slf4j-simple", "2.0.17"],
      compiler,
    ],
  },
];

/** Installs Java and the clients. It uses no network if all of them are there. */
export function provideJavaClients() {
  const missing = clients.filter(({ folder }) => !existsSync(folder));
  const packages = [
    ...(isOnPath("java") ? [] : ["default-jre-headless"]),
    ...(missing.length === 0 || isOnPath("mvn") ? [] : ["maven"]),
  ];
  if (packages.length > 0) {
    if (!canInstallDebianPackages())
      throw new BootstrapError(
        `The tests of the snippets for Java need the Debian packages ${packages.join(" and ")}, or what they stand for, and only root on a machine with apt-get can install them here.`,
      );
    installDebianPackages(packages);
  }
  if (missing.length === 0) return;
  // One repository for all, so that shared dependencies load once.
  const repository = mkdtempSync(join(tmpdir(), "redeliver-maven-"));
  try {
    for (const { name, folder, artifacts } of missing) {
      say(`installing ${name} with Maven`);
      installJars(folder, artifacts, repository);
      say(`${name} installed`);
    }
  } finally {
    rmSync(repository, { recursive: true, force: true });
  }
}
