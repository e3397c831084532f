// Builds the site into site/dist: the pages of docs/, and a reference of the TypeScript API.
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { Application, type TypeDocOptions } from "typedoc";
import { build } from "vitepress";

const root = resolve(import.meta.dirname, "..");
const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};
const entries = Object.entries(exports).flatMap(([path, entry]) =>
  typeof entry === "string"
    ? []
    : [{ module: join(name, path), file: entry.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts") }],
);

const options = {
  tsconfig: join(root, "tsconfig.build.json"),
  entryPoints: entries.map(({ file }) => join(root, file)),
  plugin: ["typedoc-plugin-markdown"],
  outputFileStrategy: "modules",
  hideBreadcrumbs: true,
  hidePageHeader: true,
  readme: "none",
  excludeExternals: true,
  disableSources: true,
  // Its own links count equal names differently from the headings of the site.
  useHTMLAnchors: true,
  logLevel: "Error",
  outputs: [{ name: "markdown", path: join(import.meta.dirname, "api") }],
};
const application = await Application.bootstrapWithPlugins(options as Partial<TypeDocOptions>);
const project = await application.convert();
if (project === undefined) throw new Error("the API does not compile");
const modules = new Map(entries.map(({ module, file }) => [file.replace(/^src\/|(\/index)?\.ts$/g, ""), module]));
for (const child of project.children ?? []) child.name = modules.get(child.name) ?? child.name;
rmSync(join(import.meta.dirname, "api"), { recursive: true, force: true });
await application.generateOutputs(project);
await build(import.meta.dirname);
