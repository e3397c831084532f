import { existsSync } from "node:fs";

import type { Command, Option } from "commander";

import { auditedBrokers, stateTools } from "./audit-source.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { exitCodes } from "./exit-codes.ts";
import { type Project, readProject } from "./project.ts";
import { projectFiles } from "./project-files.ts";
import { refuse, usage } from "./refuse.ts";
import { commandLine } from "./run.ts";

/**
 * Completes the words of a command from the project file: the declaration, the target of an environment, and its URLs.
 * Words that are there win.
 *
 * @returns the complete words; or the exit code if the project file or the environment is refused
 */
export async function inProject(words: readonly string[]): Promise<readonly string[] | number> {
  const { command, path } = commandIn(
    commandLine(words, () => undefined),
    words,
  );
  if (!command.options.some(({ long }) => long === "--env")) return words;
  const rest = words.slice(path.length);
  const given = givenIn(command, rest);
  const { options } = given;
  if (options.has("help")) return words;
  const answer = { json: options.has("json") };
  const here = projectFiles.filter((name) => existsSync(name));
  const file = options.get("project") ?? here[0];
  const asked = options.get("env");
  // An input names its own broker, so only a word of the user brings it an environment.
  if (asked === undefined && !takesFile(command) && (readsFile(options) || options.has("url"))) return words;
  if (file === undefined) {
    if (asked === undefined) return words;
    return usage(`there is no ${projectFiles[0]} here, and --env names an environment in it`, answer);
  }
  if (!options.has("project") && here.length > 1)
    return usage(`${here.join(" and ")} are both here: remove one, or name one with --project`, answer);
  const project = readProject(file);
  if (!project.ok) return refuse(project.diagnostics, answer, { file }, exitCodes.usage);
  const names = Object.keys(project.value.environments);
  const environment = asked ?? (names.length === 1 ? names[0] : undefined);
  if (environment !== undefined && !names.includes(environment)) {
    const nearest = nearestWord(environment, names);
    const meant = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    return usage(`${file} has no environment ${environment}; it has ${names.join(", ")}${meant}`, answer);
  }
  const needsTarget = command.options.some(({ long, mandatory }) => long === "--target" && mandatory);
  if (environment === undefined && needsTarget && !options.has("target"))
    return usage(`name an environment of ${file} with --env: ${names.join(", ")}`, answer);
  return [...path, ...completed(command, given, project.value, environment), ...rest];
}

function commandIn(program: Command, words: readonly string[]): { command: Command; path: readonly string[] } {
  let command = program;
  const path: string[] = [];
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    path.push(word);
  }
  return { command, path };
}

/** The words of a person, read by the options of a command. */
type Given = ReturnType<typeof givenIn>;

function givenIn(command: Command, words: readonly string[]) {
  const options = new Map<string, string>();
  let operands = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return { options, operands: operands + words.length - index - 1 };
    if (!isFlag(word)) operands += 1;
    if (["-h", "--help"].includes(word)) options.set("help", "");
    const option = command.options.find((each) => isMeant(each, word));
    if (option === undefined) continue;
    const attached = word.startsWith("--") ? word.split("=").slice(1).join("=") : word.slice(2);
    const takesNext = option.required && attached === "" && !word.includes("=");
    options.set(option.name(), takesNext ? (words[index + 1] ?? "") : attached);
    if (!takesNext) continue;
    index += 1;
    while (option.variadic && index + 1 < words.length && !isFlag(words[index + 1] ?? "")) index += 1;
  }
  return {
    /** By the name of each option, its value. It is empty for an option without a value. */
    options,
    /** The number of words that are arguments of the command itself. */
    operands,
  };
}

/** A single dash is the standard input. */
function isFlag(word: string): boolean {
  return /^-./.test(word);
}

function isMeant({ long, short }: Option, word: string): boolean {
  if (word.startsWith("--")) return word.split("=")[0] === long;
  return typeof short === "string" && word.startsWith(short);
}

function takesFile({ registeredArguments: [first] }: Command): boolean {
  return first?.name() === "file";
}

/** True if a file stands for a running broker. */
function readsFile(options: Given["options"]): boolean {
  const states = stateTools.map(({ flags }) => flags.replaceAll(/^--| .*/g, ""));
  return [...auditedBrokers().map(({ auditor }) => auditor.file.option), ...states].some((each) => options.has(each));
}

function completed(
  command: Command,
  { options, operands }: Given,
  { file, declaration, environments }: Project,
  environment: string | undefined,
): readonly string[] {
  const { url, managementUrl } = (environment === undefined ? null : environments[environment]) ?? {};
  const names = new Set(command.options.map((option) => option.name()));
  // Without a word about it, `lock` asks nobody.
  const asksNobody = names.has("live") && !options.has("live");
  // A look at dead letters needs a client's connection. The other commands ask the management API alone.
  const live = names.has("management-url") ? { url, "management-url": managementUrl } : { url: managementUrl };
  const values: Readonly<Record<string, string | undefined>> = {
    project: file,
    target: environment === undefined ? undefined : `${file}#${environment}`,
    ...(operands > 1 || readsFile(options) || asksNobody ? {} : live),
  };
  const added = Object.entries(values).flatMap(([name, value]) =>
    value !== undefined && names.has(name) && !options.has(name) ? [`--${name}`, value] : [],
  );
  const others = command.registeredArguments.filter((each) => each.required && each.name() !== "file").length;
  const lacksFile = takesFile(command) && operands <= others && (!options.has("queue") || options.has("consumer"));
  return lacksFile ? [...added, declaration] : added;
}
