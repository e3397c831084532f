// The clients for Java that the snippets of the contract pages are run with, and a compiler for them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, installJars } from "./cache-folder.mjs";
import { BootstrapError, canInstallDebianPackages, installDebianPackages, isOnPath, say } from "./machine.mjs";

const springBootVersion = "4.1.1";
const serviceBusVersion = "7.17.20";
const compiler = ["org.eclipse.jdt", "ecj", "3.42.0"];

/** Folders with the jars and everything they need. Their names change with what is in them: a folder that is there is taken for complete. */
export const springClientsFolder = join(cacheFolder, `java-clients-spring-boot-${springBootVersion}`);
export const serviceBusClientFolder = join(cacheFolder, `java-client-servicebus-${serviceBusVersion}`);

const clients = [
  {
    name: `Spring Boot ${springBootVersion}`,
    folder: springClientsFolder,
    artifacts: [["org.springframework.boot", "spring-boot-starter-amqp", springBootVersion], compiler],
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
];

/** Installs Java and the clients; asks nothing of the network where all is there. */
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
  for (const { name, folder, artifacts } of missing) {
    say(`installing ${name} with Maven`);
    installJars(folder, artifacts);
    say(`${name} installed`);
  }
}
