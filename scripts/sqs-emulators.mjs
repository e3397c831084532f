// The two emulators of SQS that the live tests run on, kept in the user's cache folder so that all checkouts share them.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  BootstrapError,
  canInstallDebianPackages,
  installDebianPackages,
  isOnPath,
  run,
  say,
  tail,
} from "./machine.mjs";

const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "redeliver");

export const elasticMqVersion = "1.7.1";
export const motoVersion = "5.2.5";
/** moto, what its CloudFormation loads besides, and the client of RabbitMQ that the snippets for Python are run with; boto3 comes with moto. */
const motoRequirements = [
  `moto==${motoVersion}`,
  "flask==3.1.3",
  "flask-cors==6.0.5",
  "openapi-spec-validator==0.9.0",
  "pika==1.4.4",
];

/** A folder with ElasticMQ's jars and everything they need. */
export const elasticMqFolder = join(cacheFolder, `elasticmq-${elasticMqVersion}`);
/** Counted up when the requirements change, since a folder that is there is taken for complete. */
const motoFolder = join(cacheFolder, `moto-${motoVersion}-2`);
/** The Python that has moto. The scripts beside it name the folder they were built in, so only this is to be run. */
export const motoPython = join(motoFolder, "bin", "python");

const runPython = (python, code) => run(python, ["-c", code]).ok;
const elasticMqIsHere = () => existsSync(elasticMqFolder);
// A virtual environment dies with the Python it was made from, which a system update replaces.
const motoIsHere = () =>
  existsSync(motoPython) && runPython(motoPython, "import importlib.util as u, sys; sys.exit(not u.find_spec('moto'))");

/** Installs whatever the emulators need; asks nothing of the network where all is there. */
export function provideSqsEmulators() {
  const wantsElasticMq = !elasticMqIsHere();
  const wantsMoto = !motoIsHere();
  provideLanguages(wantsElasticMq, wantsMoto);
  if (wantsElasticMq) installElasticMq();
  if (wantsMoto) installMoto();
}

function provideLanguages(wantsElasticMq, wantsMoto) {
  const packages = [];
  if (!isOnPath("java")) packages.push("default-jre-headless");
  if (wantsElasticMq && !isOnPath("mvn")) packages.push("maven");
  // Debian ships Python without ensurepip, and venv works only with it.
  if (wantsMoto && !runPython("python3", "import ensurepip, venv")) packages.push("python3-venv");
  if (packages.length === 0) return;
  if (!canInstallDebianPackages())
    throw new BootstrapError(
      `The emulators of SQS need the Debian packages ${packages.join(", ")}, or what they stand for, ` +
        "and only root on a machine with apt-get can install them here. Install them, or set SQS_ENDPOINT to an endpoint that the tests may use.",
    );
  installDebianPackages(packages);
}

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>redeliver</groupId>
  <artifactId>elasticmq</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.elasticmq</groupId>
      <artifactId>elasticmq-server_2.13</artifactId>
      <version>${elasticMqVersion}</version>
    </dependency>
  </dependencies>
</project>
`;

function installElasticMq() {
  say(`installing ElasticMQ ${elasticMqVersion} with Maven`);
  build(elasticMqFolder, elasticMqIsHere, (workFolder) => {
    const pom = join(workFolder, "pom.xml");
    const jars = join(workFolder, "jars");
    writeFileSync(pom, project);
    // A repository of its own, because two Mavens that write to the same one at once can spoil it.
    const repository = `-Dmaven.repo.local=${join(workFolder, "repository")}`;
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
    const options = ["--quiet", "--batch-mode", "--file", pom, repository, goal];
    required("mvn", [...options, "-DincludeScope=runtime", `-DoutputDirectory=${jars}`]);
    return jars;
  });
  say("ElasticMQ installed");
}

function installMoto() {
  say(`installing moto ${motoVersion} with pip`);
  build(motoFolder, motoIsHere, (workFolder) => {
    const environment = join(workFolder, "environment");
    required("python3", ["-m", "venv", environment]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    required(join(environment, "bin", "python"), [...pip, ...motoRequirements]);
    return environment;
  });
  say("moto installed");
}

function required(command, commandArguments) {
  const result = run(command, commandArguments);
  if (!result.ok)
    throw new BootstrapError(`${basename(command)} ${commandArguments.join(" ")} failed:\n${tail(result.output)}`);
}

/**
 * Lets something be built beside the place where it belongs, and moves it there in one step: a folder of that name is always
 * complete, and of two runs that build at the same time the second finds the work done.
 */
function build(folder, isHere, buildIn) {
  mkdirSync(dirname(folder), { recursive: true });
  removeAbandoned(folder);
  const workFolder = mkdtempSync(`${folder}.building-`);
  try {
    const built = buildIn(workFolder);
    // What stands there is broken, unless another run has put it there meanwhile.
    if (!isHere()) rmSync(folder, { recursive: true, force: true });
    renameSync(built, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

const abandonedAfterMs = 3_600_000;

/** Removes what runs that were killed have left behind. */
function removeAbandoned(folder) {
  for (const name of readdirSync(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}.building-`)) continue;
    const path = join(dirname(folder), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > abandonedAfterMs) rmSync(path, { recursive: true, force: true });
  }
}
