// Installs the npm packages: all of the lock file, or only those that the command line needs. It runs before
// node_modules exists, on any Node since 20. So this is plain JavaScript without dependencies.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { BootstrapError, root, run, say } from "./machine.mjs";

/** The packages that the sources of the command line import. */
export const commandLinePackages = [
  "@hpcc-js/wasm-graphviz",
  "cli-table3",
  "commander",
  "fastest-levenshtein",
  "re2js",
  "yaml",
  "zod",
];

const lockFile = (folder = root) => JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));

/** npm writes this file last, so an interrupted installation lacks it. */
function installedPackages(folder = root) {
  const path = join(folder, "node_modules", ".package-lock.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : {};
}

/** True if the wanted packages are installed. Optional packages for other platforms never are. */
function areInstalled(wanted, folder = root) {
  const installed = installedPackages(folder);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const present = installed[path];
    if (present === undefined) return entry.optional === true || entry.devOptional === true;
    return present.version === entry.version && present.integrity === entry.integrity;
  });
}

export function installAllPackages() {
  if (!areInstalled(lockFile().packages)) oneAtATime(installAll);
}

function installAll() {
  if (areInstalled(lockFile().packages)) return;
  say("installing the packages of package-lock.json (npm ci)");
  npm(["ci"], root);
  say("packages installed");
}

/** Each installation deletes node_modules. So with two terminals the second one waits for the first. */
function oneAtATime(install) {
  const folder = join(root, ".cache");
  const path = join(folder, "installing");
  mkdirSync(folder, { recursive: true });
  for (let isToldOf = false; !isTaken(path); isToldOf = true) {
    if (!isToldOf)
      say("waiting for another command that installs packages (if there is none, delete .cache/installing)");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  try {
    install();
  } finally {
    rmSync(path, { force: true });
  }
}

/** True if the file is this process's now. A process that was killed leaves its file. */
function isTaken(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0);
  } catch (error) {
    // A file without a number is being written now, or is gone already.
    if (error.code === "ESRCH") rmSync(path, { force: true });
  }
  return false;
}

/** Installs the packages that only `npm run site` needs, into the site's own folder. */
export function installSite() {
  const folder = join(root, "site");
  if (areInstalled(lockFile(folder).packages, folder)) return;
  say("installing the packages of the site into site/node_modules: 150 MB, about 10 s");
  npm(["ci", "--ignore-scripts"], folder);
  say("packages installed");
}

/**
 * Installs the few packages of the command line, and a Node of its own if this one is too old to run the sources. All
 * packages contain these few, so an installation of all stays.
 */
export function installCommandLine() {
  const isNodeEnough = runsSources(process.versions.node) && !process.execPath.startsWith(join(root, "node_modules"));
  const names = isNodeEnough ? commandLinePackages : [...commandLinePackages, "node"];
  if (!areInstalled(closureOf(names))) oneAtATime(() => installFew(names));
}

function installFew(names) {
  const wanted = closureOf(names);
  if (areInstalled(wanted)) return;
  if (Object.keys(installedPackages()).some((path) => !Object.hasOwn(closureOf([...names, "node"]), path))) {
    installAll();
    return;
  }
  const size = names.includes("node") ? "140 MB with a Node of its own, about 15 s" : "15 MB, about 5 s";
  say(`installing the ${names.length} packages of the command line into node_modules: ${size}`);
  installAlone(names, wanted);
  say("packages installed");
}

/** True for a version of Node that runs TypeScript and is new enough for the command line. */
function runsSources(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** The entries of the lock file for some packages, and for all that these need. */
function closureOf(names) {
  const { packages } = lockFile();
  const found = {};
  const add = (path) => {
    if (Object.hasOwn(found, path) || packages[path] === undefined) return;
    found[path] = packages[path];
    const { dependencies = {}, optionalDependencies = {} } = packages[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const own = `${path}/node_modules/${name}`;
      add(packages[own] === undefined ? `node_modules/${name}` : own);
    }
  };
  for (const name of names) add(`node_modules/${name}`);
  return found;
}

/** npm can leave out no single package of a project. So it installs these into a project beside, and they move. */
function installAlone(names, wanted) {
  const folder = join(root, ".cache", "command-line");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dependencies = Object.fromEntries(names.map((name) => [name, wanted[`node_modules/${name}`].version]));
  const project = { name: "command-line", dependencies, allowScripts: { node: true } };
  const { lockfileVersion } = lockFile();
  const write = (file, value) => writeFileSync(join(folder, file), JSON.stringify(value));
  write("package.json", project);
  write("package-lock.json", { name: project.name, lockfileVersion, packages: { "": { dependencies }, ...wanted } });
  // In the cache of the user, the archive of Node would keep 60 MB that nobody may need again.
  const cache = Object.hasOwn(dependencies, "node") ? ["--cache", join(folder, "cache")] : [];
  npm(["ci", "--no-audit", "--no-fund", ...cache], folder);
  // The program is linked from here to another folder. The rest is 67 MB of headers.
  rmSync(join(folder, "node_modules", "node", "node_modules"), { recursive: true, force: true });
  rmSync(join(root, "node_modules"), { recursive: true, force: true });
  renameSync(join(folder, "node_modules"), join(root, "node_modules"));
  rmSync(folder, { recursive: true });
}

/** npm ci deletes node_modules, so npm and the install scripts may not run on the Node inside it. */
function npm(words, folder) {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((directory) => !directory.startsWith(join(root, "node_modules")));
  const environment = { ...process.env, PATH: path.join(delimiter) };
  const own = process.env.npm_execpath;
  const result =
    own === undefined ? run("npm", words, environment, folder) : run("node", [own, ...words], environment, folder);
  if (!result.ok) throw new BootstrapError(`npm ${words[0]} failed:\n${result.output}`);
}
