import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { wordOf } from "../diagnostics/word-of.ts";
import { isEntry } from "../foreign/entries.ts";
import { readPackaged } from "./read-packaged.ts";
import { jsonIn } from "../foreign/parse-json.ts";

/** The program of `init` in a project that may have one of its own. */
export interface Joined {
  /** The files of the program, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** The steps that are left to the user. */
  readonly next: readonly string[];
}

/** Chooses the file of the program, so that the program that is there still runs, and nothing of it is changed. */
export async function joinProject(folder: string, broker: string): Promise<Joined | { readonly usage: string }> {
  const textOf = (file: string): string | null =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : null;
  const template = readPackaged(`examples/init/${broker}/index.ts`);
  const programWith = (extension: string): string => template.replace("../retries.ts", `./retries${extension}`);
  const starting = (program: string): string =>
    readPackaged("examples/init/index.mjs").replaceAll("index.ts", `${program}.ts`);
  // `init` may have written it before.
  const isForeign = (file: string, own: readonly string[]): boolean =>
    textOf(file) !== null && !own.includes(textOf(file) ?? "");
  const programs = [programWith(""), programWith(".ts")];
  const elsewhere = "name a folder of its own with --output";

  const pulumi = textOf("Pulumi.yaml");
  const { runtime: given = "nodejs", main: start } = await mappingIn(pulumi ?? "");
  const runtime = isEntry(given) ? given["name"] : given;
  if (runtime !== "nodejs") return { usage: `Pulumi.yaml is for a program in ${wordOf(runtime)}: ${elsewhere}` };
  // In a project of `pulumi new typescript`, Pulumi compiles the program, to a module that requires others.
  const isStarted = pulumi === null || start === "index.mjs";
  if (isStarted && isForeign("index.mjs", [starting("index"), starting("deploy")]))
    return { usage: `index.mjs is there, and Pulumi would start it: ${elsewhere}` };
  const main = ["index.ts", "index.js"].find((file) => isForeign(file, programs));
  const program = main === undefined ? "index" : "deploy";
  if (isForeign("deploy.ts", programs) && main !== undefined)
    return { usage: `deploy.ts is there, and it is none of init: ${elsewhere}` };

  const type = typeIn(textOf("package.json"));
  const extension = isStarted || type === "module" ? ".ts" : "";
  const line =
    main === "index.js" && type !== "module" ? 'require("./deploy");' : `export * from "./deploy${extension}";`;
  return {
    files: {
      [`${program}.ts`]: programWith(extension),
      ...(isStarted ? { "index.mjs": starting(program) } : {}),
    },
    next: [
      ...(isStarted || main === undefined ? [] : [`add this line to ${main}: ${line}`]),
      ...(type === "commonjs" ? ['write "type": "module" in place of "commonjs" in package.json'] : []),
    ],
  };
}

/** The keys of a Pulumi.yaml; none if Pulumi cannot read it either. */
async function mappingIn(text: string): Promise<Readonly<Record<string, unknown>>> {
  const { parseText } = await import("../declare/parse.ts");
  const parsed = parseText(text, "yaml");
  return parsed.ok && isEntry(parsed.value) ? parsed.value : {};
}

/** The kind of module that a package.json names. */
function typeIn(text: string | null): unknown {
  const data = jsonIn(text ?? "");
  return isEntry(data) ? data["type"] : undefined;
}
