import { extname, relative, resolve } from "node:path";

import { type Target, type TargetInput, checkTarget, parseTarget } from "../brokers/index.ts";
import { locateIn } from "../declare/locate.ts";
import { parseText } from "../declare/parse.ts";
import { type Checked, type Diagnostic, refusedFor } from "../diagnostics/diagnostic.ts";
import type { Locate } from "../diagnostics/region.ts";
import type { Reported } from "../diagnostics/reported.ts";
import { inProject, readProject } from "./project.ts";
import { readOrCode, reasonOf } from "./read-text.ts";

/** An environment of a project file. */
const inProjectFile = /^(?<file>.+\.(?:ya?ml|json|[cm]?[jt]s))#(?<name>[^#]+)$/i;

/**
 * Reads a target from the command line: `rabbitmq@4.3`; a `.yaml`, `.yml` or `.json` file with a target as data; or
 * such a project file with the name of an environment, as in `redeliver.config.yaml#prod`. A file may have more
 * settings than a word.
 *
 * @param strategy counts for all consumers unless it is `auto`; then the file's strategies count
 */
export function loadTarget(text: string, strategy: string): Checked<Target> {
  const environment = environmentIn(text);
  if (environment !== null) return targetOf(environment, strategy);
  if (!isTargetFile(text)) return parseTarget(text, strategy);
  const read = readTarget(text);
  if (typeof read !== "string") return refusedFor("RD201", read);
  const format = extname(text).toLowerCase() === ".json" ? "json" : "yaml";
  const parsed = parseText(read, format);
  const target = parsed.ok ? checkTargetData(parsed.value, strategy) : parsed;
  if (target.ok) return target;
  const locate = locateIn(read, format);
  return { ok: false, diagnostics: target.diagnostics.map((each) => inFile(each, text, locate)) };
}

function isTargetFile(text: string): boolean {
  return [".yaml", ".yml", ".json"].includes(extname(text).toLowerCase());
}

/** @returns null if a text is no project file with the name of an environment */
export function environmentIn(text: string): { readonly file: string; readonly name: string } | null {
  const { file, name } = inProjectFile.exec(text)?.groups ?? {};
  return file === undefined || name === undefined ? null : { file, name };
}

/** The names of an environment. Undefined if the target is no environment, or one without names. */
export function namesIn(target: string | undefined) {
  const place = target === undefined ? null : environmentIn(target);
  const project = place === null ? null : readProject(place.file);
  if (place === null || project?.ok !== true) return undefined;
  const names = new Map(Object.entries(project.value.environments)).get(place.name)?.names;
  return names && { ...place, names };
}

/** The environments beside a target that is one, if some have names of their own. They may be in the same place. */
export function environmentsBeside(target: string): readonly string[] {
  const place = environmentIn(target);
  const project = place === null ? null : readProject(place.file);
  if (place === null || project?.ok !== true) return [];
  const all = Object.entries(project.value.environments);
  const areNamed = all.some(([, { names }]) => names !== undefined);
  return areNamed ? all.flatMap(([name]) => (name === place.name ? [] : [`${place.file}#${name}`])) : [];
}

/** A problem with the names of an environment, at its place there. */
export function inNames(problem: Diagnostic, own: ReturnType<typeof namesIn>): Diagnostic {
  const isOwn = Object.keys(own?.names ?? {}).some((each) => problem.path === `names.${each}`);
  return own === undefined || !isOwn
    ? problem
    : inProject({ ...problem, path: `environments.${own.name}.${problem.path}` }, own.file);
}

function targetOf({ file, name }: { readonly file: string; readonly name: string }, strategy: string): Checked<Target> {
  const project = readProject(file);
  if (!project.ok) return project;
  const { environments } = project.value;
  const environment = Object.hasOwn(environments, name) ? environments[name] : undefined;
  if (environment === undefined) {
    const message = `${file} has no environment ${name}; it has ${Object.keys(environments).join(", ")}`;
    return refusedFor("RD201", { path: "target", message, help: "name one of them" });
  }
  const target = checkTargetData(environment.target, strategy);
  if (target.ok) return target;
  const at = `environments.${name}.`;
  const isFile = typeof environment.target === "string" && isTargetFile(environment.target);
  const help = {
    help: 'write the content of the file here as a mapping, such as { broker: rabbitmq, version: "4.3" }, or a word such as rabbitmq@4.3',
  };
  return {
    ok: false,
    diagnostics: target.diagnostics.map((each) =>
      inProject({ ...each, ...(isFile ? help : {}), path: `${at}${each.path}` }, file),
    ),
  };
}

/** A problem at its place in the file of the target. The other diagnostics of a command are about its declaration. */
function inFile(problem: Diagnostic, file: string, locate: Locate): Diagnostic & Reported {
  const help = problem.code === "RD004" ? { help: 'write a target, such as { broker: rabbitmq, version: "4.3" }' } : {};
  const region = locate(problem.path.replace(/^target\.?/, "")) ?? { line: 1, column: 1 };
  return { ...problem, ...help, place: { file: relative("", resolve(file)), region } };
}

/** Checks the content of a file. */
export function checkTargetData(data: unknown, strategy = "auto"): Checked<Target> {
  if (typeof data === "string") return parseTarget(data, strategy);
  const isMapping = typeof data === "object" && data !== null && !Array.isArray(data);
  return checkTarget(
    (isMapping && strategy !== "auto" ? { ...data, strategy, strategies: undefined } : data) as TargetInput,
  );
}

function readTarget(file: string): string | { path: string; message: string; help: string } {
  const read = readOrCode(file);
  if ("text" in read) return read.text;
  const { message, help } = reasonOf(read.code);
  return { path: "target", message: `${JSON.stringify(file)}: ${message}`, help };
}
