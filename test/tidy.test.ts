import { globSync, readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const files = globSync("{src,stacks,policies,scripts,bench,test}/**/*.{ts,mjs}", { cwd: root }).toSorted();
const sources = files.filter((file) => file.startsWith("src/"));
const read = (file: string): string => readFileSync(resolve(root, file), "utf8");

/** The modules a file imports: paths within the project, or package names. Comments are not code. */
function importsOf(file: string): string[] {
  const code = read(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const names = [...code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return names.map((name) => (name.startsWith(".") ? relative(root, resolve(root, dirname(file), name)) : name));
}

/** The pipeline: a folder may import itself and what stands before it in its row. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "src/diagnostics": [],
  "src/explore": [],
  "src/declare": ["src/diagnostics"],
  "src/plan": ["src/diagnostics", "src/declare"],
  "src/brokers": ["src/diagnostics", "src/explore", "src/declare", "src/plan"],
  "src/verify": ["src/diagnostics", "src/explore", "src/declare", "src/plan", "src/brokers"],
  "src/simulate": ["src/diagnostics", "src/explore", "src/declare", "src/plan", "src/brokers"],
  "src/migrate": ["src/diagnostics", "src/declare", "src/plan", "src/brokers"],
  ...Object.fromEntries(
    ["src/report", "src/consume", "src/deploy", "src/policy"].map((folder) => [
      folder,
      [
        "src/diagnostics",
        "src/explore",
        "src/declare",
        "src/plan",
        "src/brokers",
        "src/verify",
        "src/simulate",
        "src/migrate",
      ],
    ]),
  ),
  "src/cli": [
    "src/diagnostics",
    "src/explore",
    "src/declare",
    "src/plan",
    "src/brokers",
    "src/verify",
    "src/simulate",
    "src/migrate",
    "src/report",
    "src/policy",
  ],
};
const folderOf = (file: string): string => file.split("/").slice(0, 2).join("/");

test("imports go one way along the pipeline", () => {
  const wrong = sources.flatMap((file) => {
    const allowed = mayImport[folderOf(file)];
    if (allowed === undefined) return file === "src/index.ts" ? [] : [`${file} is in no folder of the pipeline`];
    return importsOf(file)
      .filter((name) => name.startsWith("src/"))
      .filter((name) => folderOf(name) !== folderOf(file) && !allowed.includes(folderOf(name)))
      .map((name) => `${file} imports ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("a broker's insides are known to no other folder, and only brokers/index.ts names the brokers", () => {
  const wrong = sources
    .filter((file) => file !== "src/brokers/index.ts" && file !== "src/index.ts")
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => /^src\/brokers\/[^/]+\//.test(name))
        .filter((name) => !file.startsWith(`${name.split("/").slice(0, 3).join("/")}/`))
        // The Pulumi component calls each broker's deploy.ts by name, since only there may @pulumi be loaded.
        .filter((name) => !(file.startsWith("src/deploy/") && basename(name) === "deploy.ts"))
        .map((name) => `${file} imports ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("Pulumi is loaded by deploy files alone, and the core does no input or output", () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((name) => {
        // Types alone: policies are plain objects.
        const isPolicy = /^src\/policy\/(policies|read-stack)\.ts$/.test(file) && name === "@pulumi/policy";
        const isDeploy = file.startsWith("src/deploy/") || basename(file) === "deploy.ts";
        const isInputOutput = /^node:(fs|net|http|child_process)/.test(name);
        // Consumers reach their brokers through client libraries; of one that the library cannot speak to a file asks the version itself.
        const isEdge = file.startsWith("src/cli/") || file === "src/consume/rabbitmq/greeted-version.ts";
        return (name.startsWith("@pulumi/") && !isDeploy && !isPolicy) || (isInputOutput && !isEdge);
      })
      .map((name) => `${file} imports ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("only a broker's own folders name the resource types of its Pulumi provider", () => {
  // Each component is for one broker, and each example for one rule.
  const ofOneBroker = /^src\/(brokers|policy)\/(rabbitmq|sqs|servicebus)\/|^src\/(deploy|diagnostics\/examples)/;
  const wrong = sources
    .filter((file) => !ofOneBroker.test(file))
    .filter((file) => /["'`](aws|rabbitmq|azure-native):\w+/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\//g, "")));
  expect(wrong).toEqual([]);
});

test("every broker folder has the same files", () => {
  const wanted = [
    "audit.ts",
    "capabilities.ts",
    "compile.ts",
    "deploy.ts",
    "diagnose.ts",
    "export.ts",
    "graph.ts",
    "index.ts",
    "model.ts",
    "parts.ts",
    "semantics.ts",
    "target.ts",
    "topology.ts",
  ];
  // What a folder does not have yet; what is here and there all the same is taken off the list.
  const toCome: Readonly<Record<string, readonly string[]>> = {};
  const folders = globSync("src/brokers/*/", { cwd: root });
  expect(folders.length).toBeGreaterThan(0);
  for (const folder of folders) {
    const present = new Set(globSync(`${folder}/*.ts`, { cwd: root }).map((file) => basename(file)));
    const missing = wanted.filter((file) => !present.has(file));
    expect(missing, folder).toEqual(toCome[basename(folder)] ?? []);
  }
});

test("files have at most 300 lines, tests 400; a catalogue of data may have more", () => {
  const long = files
    .filter((file) => !file.startsWith("src/diagnostics/"))
    .map((file) => ({ file, lines: read(file).split("\n").length }))
    .filter(({ file, lines }) => lines > (file.startsWith("test/") ? 401 : 301));
  expect(long).toEqual([]);
});

test("names are kebab-case and there is no drawer for odds and ends", () => {
  const wrong = files.filter(
    (file) =>
      !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(ts|mjs)$/.test(basename(file)) ||
      /^(utils?|helpers?|types|common|misc)\./.test(basename(file)),
  );
  expect(wrong).toEqual([]);
});

test("nothing names a registry's host or a folder of somebody's machine", () => {
  const committed = globSync("**/*.{ts,mjs,md,json,yaml,yml}", {
    cwd: root,
    exclude: ["node_modules/**", "out/**", "dist/**", ".git/**"],
  });
  const wrong = committed.filter(
    (file) =>
      file !== "test/tidy.test.ts" &&
      /registry\.npmjs|deb\.debian\.org|repo1\.maven|pypi\.org|\/work\/|\/root\/|\/home\//.test(read(file)),
  );
  expect(wrong).toEqual([]);
});

test("there are no leftovers: no only, no skip without a condition, no todo", () => {
  const wrong = files.filter(
    (file) =>
      file !== "test/tidy.test.ts" && /\b(test|it|describe)\.(only|skip|todo)\b|\bTODO\b|\bFIXME\b/.test(read(file)),
  );
  expect(wrong).toEqual([]);
});
