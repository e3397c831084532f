import { globSync, readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const files = globSync("{src,stacks,plugin,policies,scripts,bench,test,examples/diagnostics}/**/*.{ts,mjs}", {
  cwd: root,
}).toSorted();
const sources = files.filter((file) => file.startsWith("src/"));
const read = (file: string): string => readFileSync(resolve(root, file), "utf8");

const anyImport = /(?:from|import)\s*\(?\s*"([^"]+)"/g;
/** Without those that are loaded when they are needed. */
const staticImport = /(?:from|import)\s*"([^"]+)"/g;

/** The modules that a file imports: paths within the project, or package names. Comments are not code. */
function importsOf(file: string, pattern = anyImport): string[] {
  const code = read(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const names = [...code.matchAll(pattern)].map((match) => match[1] ?? "");
  return names.map((name) => (name.startsWith(".") ? relative(root, resolve(root, dirname(file), name)) : name));
}

/** The pipeline: a folder may import itself and those above it in this list. */
const pipeline = [
  "src/node",
  "src/diagnostics",
  "src/explore",
  "src/tls",
  "src/declare",
  "src/plan",
  "src/contract",
  "src/foreign",
  "src/consume/port",
  "src/operate",
  "src/adopt",
  "src/brokers",
  "src/verify",
  "src/compile",
  "src/simulate",
  "src/migrate",
  "src/report",
  "src/consume",
  "src/dead-letters",
  "src/deploy",
  "src/policy",
  "src/cli",
];
/** The ports of later folders that a broker's room implements. */
const ports: Readonly<Record<string, readonly string[]>> = { make: ["src/deploy"], pages: ["src/report"] };
/** The port of the policy pack: a broker writes its rules with it, and `brokers/broker.ts` names their type. */
const rulePort = new Set(["src/policy/rule.ts", "src/policy/frameworks.ts"]);
const isOfRules = (file: string): boolean => /^src\/brokers\/(broker|[^/]+\/rules)\.ts$/.test(file);
/** The rooms of a broker's folder. Each may import those that it names. A file beside the rooms may import all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  compile: [],
  prove: ["compile"],
  foreign: ["compile", "prove"],
  make: ["compile"],
  run: ["compile"],
  operate: ["compile", "run"],
  pages: ["compile"],
};
const roomOf = (file: string): string | null => /^src\/brokers\/[^/]+\/([^/]+)\//.exec(file)?.[1] ?? null;
/** The codes of the brokers and their examples are data of the catalogue, and import no more than it does. */
const isProblem = (file: string): boolean =>
  /^src\/brokers\/([^/]+\/problems|([a-z]+-)?problems|examples)\.ts$/.test(file);
const folderOf = (file: string): string => {
  if (isProblem(file)) return "src/diagnostics";
  return file.startsWith("src/consume/port/") ? "src/consume/port" : file.split("/").slice(0, 2).join("/");
};

test("imports go one way along the pipeline", () => {
  const wrong = sources.flatMap((file) => {
    const place = pipeline.indexOf(folderOf(file));
    if (place === -1) return file === "src/index.ts" ? [] : [`${file} is in no folder of the pipeline`];
    const allowed = new Set([...pipeline.slice(0, place + 1), ...(ports[roomOf(file) ?? ""] ?? [])]);
    return (
      importsOf(file)
        // A package is another matter, but no other folder of the project is.
        .filter((name) => files.includes(name) && !allowed.has(folderOf(name)))
        .filter((name) => !(isOfRules(file) && rulePort.has(name)))
        .map((name) => `${file} imports ${name}`)
    );
  });
  expect(wrong).toEqual([]);
});

test("no file imports itself through others, types included", () => {
  const graph = new Map(sources.map((file) => [file, importsOf(file, staticImport)]));
  expect(circlesIn(graph)).toEqual([]);
});

/**
 * The files that lead to one another: the strongly connected components of more than one file, by Tarjan's algorithm.
 */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const numbers = new Map<string, number>();
  const open: string[] = [];
  /** Returns the lowest number that can be reached among the open files. */
  const visit = (file: string): number => {
    const own = numbers.size;
    numbers.set(file, own);
    open.push(file);
    let lowest = own;
    for (const next of graph.get(file)?.filter((name) => graph.has(name)) ?? []) {
      if (!numbers.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, numbers.get(next) ?? own);
    }
    if (lowest === own) {
      const members = open.splice(open.indexOf(file));
      if (members.length > 1) found.push(members.toSorted().join(", "));
    }
    return lowest;
  };
  for (const file of graph.keys()) if (!numbers.has(file)) visit(file);
  return found;
}

test("only consume, run/ and the registration know the port of consume", () => {
  const wrong = sources
    .filter((file) => !file.startsWith("src/consume/") && roomOf(file) !== "run" && file !== "src/brokers/broker.ts")
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => folderOf(name) === "src/consume/port")
        .map((name) => `${file} imports ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("the rooms of a broker import in one direction", () => {
  const wrong = sources.flatMap((file) => {
    const room = roomOf(file);
    if (room === null) return [];
    const allowed = rooms[room];
    if (allowed === undefined) return [`${file} is in no room that there is`];
    return importsOf(file)
      .filter((name) => roomOf(name) !== null && roomOf(name) !== room && !allowed.includes(roomOf(name) ?? ""))
      .map((name) => `${file} imports ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("no other folder knows a broker's inside, and only three files name all brokers", () => {
  const wrong = sources
    .filter((file) => !/^src\/(brokers\/)?index\.ts$|^src\/brokers\/(problems|examples)\.ts$/.test(file))
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => /^src\/brokers\/[^/]+\//.test(name))
        .filter((name) => !file.startsWith(`${name.split("/").slice(0, 3).join("/")}/`))
        .map((name) => `${file} imports ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("only deploy files load Pulumi, and the core does no input or output", () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((name) => {
        // Types alone: policies are plain objects.
        const isPolicy = /^src\/policy\/pulumi(-resources)?\.ts$/.test(file) && name === "@pulumi/policy";
        const isDeploy = file.startsWith("src/deploy/") || roomOf(file) === "make";
        const isInputOutput = /^node:(fs|net|http|child_process)/.test(name);
        // Consumers reach their brokers through client libraries. One file asks a broker's version itself, for brokers
        // that the library does not know. Certificates are files, and `fetch` accepts none for a single request. Journals, exports and
        // backups are files.
        const isEdge =
          /^src\/(cli|tls|dead-letters)\//.test(file) ||
          file === "src/brokers/rabbitmq/run/deployed/greeted-version.ts";
        return (name.startsWith("@pulumi/") && !isDeploy && !isPolicy) || (isInputOutput && !isEdge);
      })
      .map((name) => `${file} imports ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("the emulator of Service Bus has one door, and one file that imports Redeliver", () => {
  const isInside = (name: string): boolean => name.startsWith("test/emulators/servicebus/");
  const wrong = files
    .filter((file) => file !== "test/emulators/servicebus/src/redeliver.ts")
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => files.includes(name) && isInside(name) !== isInside(file))
        .map((name) => `${file} imports ${name}`),
    );
  expect(wrong).toEqual([]);
});

test("only a broker's own folder names the resource types of its Pulumi provider", () => {
  // Each component is for one broker, and each example for one rule.
  const ofOneBroker = /^src\/brokers\/(rabbitmq|sqs|servicebus)\/|^src\/deploy/;
  const wrong = sources
    .filter((file) => !ofOneBroker.test(file))
    .filter((file) => /["'`](aws|rabbitmq|azure-native):\w+/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\//g, "")));
  expect(wrong).toEqual([]);
});

test("every broker folder has the same rooms and the same files", () => {
  const wanted = [
    "compile/capabilities.ts",
    "compile/compile.ts",
    "compile/contract.ts",
    "compile/diagnose.ts",
    "compile/target.ts",
    "compile/topology.ts",
    "foreign/audit.ts",
    "graph.ts",
    "index.ts",
    "make/deploy.ts",
    "make/export.ts",
    "prove/model.ts",
    "prove/semantics.ts",
    "prove/shape.ts",
    "rules.ts",
    "run/connection.ts",
    "run/dead-letter.ts",
    "run/index.ts",
    "run/port.ts",
  ];
  const folders = globSync("src/brokers/*/", { cwd: root });
  expect(folders.length).toBeGreaterThan(0);
  for (const folder of folders) {
    const present = new Set(globSync(`${folder}/**/*.ts`, { cwd: root }).map((file) => relative(folder, file)));
    expect(
      wanted.filter((file) => !present.has(file)),
      folder,
    ).toEqual([]);
  }
});

test("source files have at most 300 lines and tests 400, except codes and examples, which are data", () => {
  const long = files
    .filter((file) => !isProblem(file) && file !== "src/diagnostics/catalogue.ts")
    .map((file) => ({ file, lines: read(file).split("\n").length }))
    .filter(({ file, lines }) => lines > (file.startsWith("test/") ? 401 : 301));
  expect(long).toEqual([]);
});

test("names are kebab-case, and no file is a drawer for odds and ends", () => {
  const wrong = files.filter(
    (file) =>
      !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(ts|mjs)$/.test(basename(file)) ||
      /^(utils?|helpers?|types|common|misc)\./.test(basename(file)),
  );
  expect(wrong).toEqual([]);
});

test("no file names a registry's host or a folder of one machine", () => {
  const committed = globSync("**/*.{ts,mjs,md,json,yaml,yml}", {
    cwd: root,
    exclude: ["**/node_modules/**", "out/**", "**/dist/**", "site/api/**", ".git/**"],
  });
  const wrong = committed.filter(
    (file) =>
      file !== "test/tidy.test.ts" &&
      /registry\.npmjs|deb\.debian\.org|repo1\.maven|pypi\.org|\/work\/|\/root\/|\/home\//.test(read(file)),
  );
  expect(wrong).toEqual([]);
});

test("no test is skipped, focused or left to do", () => {
  const wrong = files.filter(
    (file) =>
      file !== "test/tidy.test.ts" && /\b(test|it|describe)\.(only|skip|todo)\b|\bTODO\b|\bFIXME\b/.test(read(file)),
  );
  expect(wrong).toEqual([]);
});

test("the files that ARCHITECTURE.md and CONTRIBUTING.md name exist, and a walk has at most ten", () => {
  const text = read("ARCHITECTURE.md");
  const named = [...`${text}${read("CONTRIBUTING.md")}`.matchAll(/`((?:src|test)\/[\w./-]+\.ts)`/g)].map(
    ([, file]) => file,
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => file === undefined || !files.includes(file))).toEqual([]);
  const steps =
    text
      .split("## Four walks")[1]
      ?.split("\n## ")[0]
      ?.split(/\*\*[^*]+\*\*/)
      .slice(1) ?? [];
  expect(steps.map((walk) => walk.match(/^\d+\. /gm)?.length)).toEqual([10, 8, 9, 10]);
});
