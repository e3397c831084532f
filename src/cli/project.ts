import { createRequire } from "node:module";
import { dirname, extname, join, relative, resolve } from "node:path";
import { types } from "node:util";

import { z } from "zod";

import type { TargetInput } from "../brokers/index.ts";
import { parseText } from "../declare/parse.ts";
import { plainData } from "../declare/plain-data.ts";
import { unmended } from "../declare/foreign-shapes.ts";
import { locateIn } from "../declare/locate.ts";
import { names, templateTexts } from "../declare/names-schema.ts";
import type { NamesInput } from "../declare/system.ts";
import { catalogue } from "../diagnostics/catalogue.ts";
import {
  type Checked,
  type Diagnostic,
  type PathSegment,
  accepted,
  diagnostic,
  formatPath,
  refuseWhole,
} from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason-of.ts";
import type { Reported } from "../diagnostics/reported.ts";
import { type InputForm, type JsonSchema, describeIssues } from "../diagnostics/schema-issues.ts";
import { type Exports, exportOf } from "./load-declaration.ts";
import { projectSentences, projectShapes, projectStart } from "./project-mistakes.ts";
import { readText } from "./read-text.ts";

/** The file of a module, which Node has to run. */
const moduleName = /\.[cm]?[jt]s$/i;

const environmentName = /^[A-Za-z0-9][\w.-]*$/;
const text = z.string().min(1);

const environment = z.strictObject({
  target: z.union([text, z.record(z.string(), z.unknown())]),
  url: text.optional(),
  managementUrl: text.optional(),
  names: names.optional(),
});

const waiver = z.strictObject({
  code: z.string().regex(/^RD\d{3}$/),
  consumer: text.optional(),
  reason: z.string().trim().min(1),
  until: z.iso.date(),
});

const projectSchema = z.strictObject({
  declaration: text,
  environments: z.record(z.string().regex(environmentName), environment),
  waivers: z.array(waiver).optional(),
});

/** Accepts a warning up to and with a day, such as 2027-01-31, for one consumer or for all. */
type Waiver = z.output<typeof waiver>;

/** The content of a project file, and its path. `declaration` is a path from the current folder. */
export interface Project extends z.output<typeof projectSchema> {
  readonly file: string;
}

/** The project file as a module exports it: `export default { … } satisfies ProjectFile` in redeliver.config.ts. */
export interface ProjectFile {
  /** The file of the declaration, from the folder of the project file. */
  readonly declaration: string;
  /** By name, such as dev and prod. */
  readonly environments: Readonly<
    Record<
      string,
      {
        /** A word such as rabbitmq@4.3, or all settings of the target. */
        readonly target: string | TargetInput;
        /** The broker that `dead` connects to, without a password. */
        readonly url?: string;
        /** The broker that `diff`, `leftovers`, `audit` and `adopt` read, without a password. */
        readonly managementUrl?: string;
        /** Templates for names on the broker, in place of those of the declaration. */
        readonly names?: NamesInput;
      }
    >
  >;
  /** The warnings that the project accepts, until the end of a day such as 2027-01-31. */
  readonly waivers?: readonly Waiver[];
}

/**
 * Reads a project file: the declaration, the environments with a target each, and waivers of warnings. It never holds a
 * password, because every reader of the repository could see it.
 */
export function readProject(file: string): Checked<Project> {
  const read = readText(file);
  if (!read.ok) return read;
  const format = extname(file).toLowerCase() === ".json" ? "json" : "yaml";
  const parsed = moduleName.test(file) ? readModule(file) : parseText(read.value, format);
  const checked = parsed.ok ? checkProject(parsed.value) : parsed;
  if (checked.ok)
    return {
      ...checked,
      value: { ...checked.value, declaration: join(dirname(file), checked.value.declaration), file },
    };
  return { ok: false, diagnostics: checked.diagnostics.map((each) => inProject(each, file, read.value)) };
}

/** Runs a module and copies its default export. Each command needs the project file first, so it cannot wait. */
function readModule(file: string): Checked<unknown> {
  try {
    const required: unknown = createRequire(import.meta.url)(resolve(file));
    // A CommonJS module is its own export.
    const exported = exportOf(types.isModuleNamespaceObject(required) ? (required as Exports) : { default: required });
    if (exported !== undefined) return plainData(exported);
    const help = "write export default { declaration, environments }";
    return refuseWhole("RD003", "the module has no default export", help);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code === "ERR_REQUIRE_ASYNC_MODULE")
      return refuseWhole("RD003", "a project file cannot await at its top", "write the values themselves");
    return refuseWhole("RD003", `the module cannot be imported: ${reasonOf(cause)}`, "run it with node to see where");
  }
}

/** A problem at its place in the project file. The other diagnostics of a command are about its declaration. */
export function inProject(problem: Diagnostic, file: string, written: string | null = null): Diagnostic & Reported {
  const read = written === null ? readText(file) : null;
  const content = written ?? (read?.ok === true ? read.value : "");
  const format = extname(file).toLowerCase() === ".json" ? "json" : "yaml";
  const locate = moduleName.test(file) ? () => undefined : locateIn(content, format);
  const place = { file: relative("", resolve(file)), region: locate(problem.path) ?? { line: 1, column: 1 } };
  const help = problem.code === "RD004" ? { help: "write declaration: shop.yaml and the environments" } : {};
  return { ...problem, ...help, place };
}

function checkProject(data: unknown): Checked<z.output<typeof projectSchema>> {
  const parsed = projectSchema.safeParse(data);
  if (!parsed.success) {
    const shapes = projectShapes(data);
    const diagnostics = unmended(describeIssues(parsed.error.issues, data, projectForm), shapes);
    return { ok: false, diagnostics: [...shapes.map((each) => each.problem), ...diagnostics] };
  }
  const { environments, waivers = [] } = parsed.data;
  const diagnostics = [
    ...(Object.keys(environments).length > 0 ? [] : [problem(["environments"], "there is no environment", "name one")]),
    ...Object.entries(environments).flatMap(([name, { url, managementUrl }]) =>
      Object.entries({ url, managementUrl }).flatMap(([key, value]) => urlProblem(["environments", name, key], value)),
    ),
    ...waivers.flatMap(({ code }, index) => codeProblem(["waivers", index, "code"], code)),
  ];
  return diagnostics.length > 0 ? { ok: false, diagnostics } : accepted(parsed.data);
}

function problem(path: readonly PathSegment[], message: string, help: string): Diagnostic {
  return diagnostic("RD321", { path, message, help });
}

function urlProblem(path: readonly PathSegment[], url: string | undefined): Diagnostic[] {
  if (url === undefined) return [];
  if (!URL.canParse(url)) return [problem(path, "this is not a URL", "write one such as https://rabbitmq.example.com")];
  // A URL may begin with any word, so this one has the host as its scheme.
  if (/^[\w.-]+:\d+(?:\/|$)/.test(url)) {
    const scheme = path.at(-1) === "url" ? "amqp" : "http";
    return [problem(path, "the URL has no scheme", `write ${JSON.stringify(`${scheme}://${url}`)}`)];
  }
  if (new URL(url).password === "") return [];
  const help = "leave the password out; the page of the command names the environment variable that takes it";
  return [problem(path, "the URL has a password, and every reader of the repository could see it", help)];
}

function codeProblem(path: readonly PathSegment[], code: string): Diagnostic[] {
  const entry = Object.entries(catalogue).find(([name]) => name === code)?.[1];
  if (entry?.severity === "warning") return [];
  const message = entry === undefined ? `there is no ${code}` : `${code} is an error, and only a warning can be waived`;
  return [problem(path, message, "name the code of a warning, or leave the waiver out")];
}

/**
 * Marks the warnings that a project accepts.
 *
 * @param today a day such as 2027-01-31, in UTC
 */
export function waive(
  warnings: readonly Diagnostic[],
  { waivers = [] }: Pick<Project, "waivers">,
  today: string,
): readonly (Diagnostic & Reported)[] {
  return warnings.map((warning) => {
    const found = waivers.find((each) => each.until >= today && isFor(each, warning));
    return found === undefined ? warning : { ...warning, waived: `until ${found.until}: ${found.reason}` };
  });
}

function isFor({ code, consumer }: Waiver, warning: Diagnostic): boolean {
  if (code !== warning.code) return false;
  if (consumer === undefined) return true;
  const place = formatPath(["consumers", consumer]);
  return warning.path === place || [".", "["].some((next) => warning.path.startsWith(`${place}${next}`));
}

/** The waivers that ended before today, each as an error. */
export function endedWaivers({ waivers = [], file }: Project, today: string): readonly Diagnostic[] {
  return waivers.flatMap(({ code, until, reason }, index) =>
    until >= today
      ? []
      : [
          inProject(
            diagnostic("RD322", {
              path: ["waivers", index],
              message: `the waiver of ${code} ended on ${until}`,
              notes: [`its reason was: ${reason}`],
              help: "mend the cause and remove the waiver, or decide again and write a later day",
            }),
            file,
          ),
        ],
  );
}

export function todayUtc(): string {
  return new Date().toISOString().slice(0, 10);
}

let wholeSchema: JsonSchema | undefined;

const projectForm: InputForm = {
  schema: () => (wholeSchema ??= z.toJSONSchema(projectSchema, { io: "input" }) as JsonSchema),
  whole: "a project file is a mapping with declaration and environments",
  begin: projectStart,
  sentencesOf: projectSentences,
  placeName: (path) => {
    if (path.length === 0) return "a project file";
    if (path.length === 2) return path[0] === "waivers" ? "a waiver" : "an environment";
    return String(path.at(-1));
  },
  texts: {
    ...templateTexts,
    [/^RD\d{3}$/.source]: "the code of a warning, such as RD207",
    [environmentName.source]: "a name of letters, digits, dots, dashes and underscores",
  },
  codeOf: () => "RD321",
  hidesValues: ({ path }) => ["url", "managementUrl"].includes(String(path.at(-1))),
};
