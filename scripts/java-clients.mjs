// The clients for Java that the snippets of the contract pages are run with, and a compiler for them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, installJars } from "./cache-folder.mjs";
import { BootstrapError, canInstallDebianPackages, installDebianPackages, isOnPath, say } from "./machine.mjs";

const springBootVersion = "4.1.1";

/** A folder with the jars and everything they need. Its name changes with what is in it: a folder that is there is taken for complete. */
export const javaClientsFolder = join(cacheFolder, `java-clients-spring-boot-${springBootVersion}`);

/** Installs Java and the clients; asks nothing of the network where all is there. */
export function provideJavaClients() {
  const isHere = existsSync(javaClientsFolder);
  const packages = [
    ...(isOnPath("java") ? [] : ["default-jre-headless"]),
    ...(isHere || isOnPath("mvn") ? [] : ["maven"]),
  ];
  if (packages.length > 0) {
    if (!canInstallDebianPackages())
      throw new BootstrapError(
        `The tests of the snippets for Java need the Debian packages ${packages.join(" and ")}, or what they stand for, and only root on a machine with apt-get can install them here.`,
      );
    installDebianPackages(packages);
  }
  if (isHere) return;
  say(`installing Spring Boot ${springBootVersion} with Maven`);
  installJars(javaClientsFolder, [
    ["org.springframework.boot", "spring-boot-starter-amqp", springBootVersion],
    ["org.eclipse.jdt", "ecj", "3.42.0"],
  ]);
  say("Spring Boot installed");
}
