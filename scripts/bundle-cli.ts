import { globSync, readFileSync } from "node:fs";
import type { Plugin } from "rolldown";
import { build } from "rolldown";

// Bundles the command line into dist/cli, so that a command starts at once. The library stays as tsc makes it.

/**
 * Loads a chunk, a package or a module of Node when its first member is used, and not when the file that names it is
 * loaded. So a command starts with the parts that it needs, although the sources import each other as usual.
 */
const loadOnUse: Plugin = {
  name: "load-on-use",
  renderChunk(code) {
    const names: string[] = [];
    const lazy = code.replaceAll(
      /^(?:const|let) (\w+) = (require\("[^"]+"\));\n(?:\1 = ([\w.]+)\(\1(, 1)?\);\n)?/gm,
      (_, name: string, load: string, wrap?: string, mode = "") => {
        names.push(name);
        const loaded = wrap === undefined ? load : `${wrap}(${load}${mode})`;
        return `let $${name};\nconst ${name} = () => $${name} ??= ${loaded};\n`;
      },
    );
    if (names.length === 0) return null;
    // A member of another object may have the same name. Three dots before it spread it.
    return lazy.replaceAll(new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)(${names.join("|")})\\.(?=[\\w$])`, "g"), "($1()).");
  },
};

/** A module for declarations that import `redeliver`. Node finds no names in the exports of the entry itself. */
const libraryModule: Plugin = {
  name: "library-module",
  generateBundle(_, bundle) {
    const library = bundle["library.cjs"];
    if (library?.type !== "chunk") throw new Error("the bundle has no library");
    const source = `import library from "./library.cjs";\nexport const { ${library.exports.join(", ")} } = library;\n`;
    this.emitFile({ type: "asset", fileName: "library.mjs", source });
  },
};

/** The licences of the bundled packages require that their texts go with the code. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
    const folders = files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
    const texts = [...new Set(folders)].toSorted().map((folder) => {
      const [licence] = globSync(`${folder}/{LICENSE,license}*`);
      if (licence === undefined) throw new Error(`${folder} has no licence`);
      return `${folder.split("/node_modules/").at(-1)}\n\n${readFileSync(licence, "utf8").trim()}\n`;
    });
    this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
  },
};

/**
 * The chunk of a module: a package, a folder of the pipeline or a part of a broker. None of them imports itself by way
 * of others. Rolldown groups the rest by the commands that need it.
 */
function chunkOf(file: string): string | null {
  const [, dependency] = /\/node_modules\/(?:@[\w-]+\/)?([\w-]+)\/(?!.*\/node_modules\/)/.exec(file) ?? [];
  if (dependency !== undefined) return dependency;
  // The codes of the brokers are data of the catalogue. A broker writes its rules with the port of the policy pack.
  if (/\/brokers\/(.*\/)?(\w+-)?problems\b/.test(file)) return "diagnostics";
  if (/\/policy\/(rule|frameworks)\.ts$/.test(file)) return "policy-port";
  const [, folder = "cli"] = /\/src\/(brokers\/\w+\/[\w-]+|consume\/port|\w+)/.exec(file) ?? [];
  return folder === "cli" ? null : folder.replaceAll("/", "-");
}

await build({
  input: {
    main: "src/cli/main.ts",
    "command-thread": "src/cli/command-thread.ts",
    library: "src/index.ts",
  },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  external: [/^@(pulumi|aws-sdk|azure|opentelemetry)\//, "amqplib", "pg", "rhea"],
  plugins: [loadOnUse, libraryModule, licences],
  output: {
    dir: "dist/cli",
    // Node loads CommonJS faster than modules, and can load it on use.
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name].cjs",
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf, debugName: "parts" }] },
    // Names stay, for the stack of an internal error.
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
    comments: { legal: true },
  },
});
