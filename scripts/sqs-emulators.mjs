// The two emulators of SQS that the live tests run on.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build, cacheFolder, installJars, required } from "./cache-folder.mjs";
import { BootstrapError, canInstallDebianPackages, installDebianPackages, isOnPath, run, say } from "./machine.mjs";

export const elasticMqVersion = "1.7.1";
export const motoVersion = "5.2.5";
/**
 * moto, packages that its CloudFormation loads, and packages for the Python snippets: a client of RabbitMQ, and Celery.
 * boto3 comes with moto. The last two parse the snippets in C#.
 */
const motoRequirements = [
  `moto==${motoVersion}`,
  "flask==3.1.3",
  "flask-cors==6.0.5",
  "openapi-spec-validator==0.9.0",
  "pika==1.4.4",
  "celery==5.7.0",
  "tree-sitter==0.26.1",
  "tree-sitter-c-sharp==0.23.5",
];

/** A folder with ElasticMQ's jars and all their dependencies. */
export const elasticMqFolder = join(cacheFolder, `elasticmq-${elasticMqVersion}`);
/** Count the last number up when the requirements change, because an existing folder counts as complete. */
const motoFolder = join(cacheFolder, `moto-${motoVersion}-4`);
/** The Python that has moto. Run only this one: the scripts beside it name the folder that built them. */
export const motoPython = join(motoFolder, "bin", "python");

const runPython = (python, code) => run(python, ["-c", code]).ok;
const elasticMqIsHere = () => existsSync(elasticMqFolder);
// A virtual environment stops working when a system update replaces its Python.
const motoIsHere = () =>
  existsSync(motoPython) && runPython(motoPython, "import importlib.util as u, sys; sys.exit(not u.find_spec('moto'))");

/** Installs the emulators. It uses no network if all of them are there. */
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
  // Debian ships Python without ensurepip, and venv needs it.
  if (wantsMoto && !runPython("python3", "import ensurepip, venv")) packages.push("python3-venv");
  if (packages.length === 0) return;
  if (!canInstallDebianPackages())
    throw new BootstrapError(
      `The emulators of SQS need the Debian packages ${packages.join(", ")}, or what they stand for, ` +
        "and only root on a machine with apt-get can install them here. Install them, or set SQS_ENDPOINT to an endpoint that the tests may use.",
    );
  installDebianPackages(packages);
}

function installElasticMq() {
  say(`installing ElasticMQ ${elasticMqVersion} with Maven`);
  installJars(elasticMqFolder, [["org.elasticmq", "elasticmq-server_2.13", elasticMqVersion]]);
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
