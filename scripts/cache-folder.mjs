// The set-up scripts install everything but npm packages into the user's cache folder, so that all checkouts share it.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { BootstrapError, run, tail } from "./machine.mjs";

export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "redeliver");

const dependency = ([groupId, artifactId, version]) =>
  `    <dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version></dependency>`;

/**
 * Puts artifacts of Maven Central, and all their dependencies, into a folder. Each artifact is a triple of group, name
 * and version.
 *
 * @param repository Maven's local repository, which several installations in sequence may share. Without it, each gets
 *   its own
 */
export function installJars(folder, artifacts, repository) {
  build(
    folder,
    () => existsSync(folder),
    (workFolder) => {
      const pom = join(workFolder, "pom.xml");
      const jars = join(workFolder, "jars");
      writeFileSync(
        pom,
        `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>redeliver</groupId>
  <artifactId>${basename(folder)}</artifactId>
  <version>1</version>
  <dependencies>
${artifacts.map(dependency).join("\n")}
  </dependencies>
</project>
`,
      );
      // Each run has its own repository, because two Mavens that write to one at the same time can spoil it.
      const place = `-Dmaven.repo.local=${repository ?? join(workFolder, "repository")}`;
      const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
      const options = ["--quiet", "--batch-mode", "--file", pom, place, goal];
      required("mvn", [...options, "-DincludeScope=runtime", `-DoutputDirectory=${jars}`]);
      return jars;
    },
  );
}

export function required(command, commandArguments) {
  const result = run(command, commandArguments);
  if (!result.ok)
    throw new BootstrapError(`${basename(command)} ${commandArguments.join(" ")} failed:\n${tail(result.output)}`);
}

/**
 * Builds in a folder beside the final place, and moves the result there in one step. So a folder of that name is always
 * complete. When two runs build at the same time, the second finds the work done.
 */
export function build(folder, isHere, buildIn) {
  mkdirSync(dirname(folder), { recursive: true });
  removeAbandoned(folder);
  const workFolder = mkdtempSync(`${folder}.building-`);
  try {
    const built = buildIn(workFolder);
    // The old folder is broken, unless another run has completed it in the meantime.
    if (!isHere()) rmSync(folder, { recursive: true, force: true });
    renameSync(built, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

const abandonedAfterMs = 3_600_000;

/** Removes the folders of killed runs. */
function removeAbandoned(folder) {
  for (const name of readdirSync(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}.building-`)) continue;
    const path = join(dirname(folder), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > abandonedAfterMs) rmSync(path, { recursive: true, force: true });
  }
}
