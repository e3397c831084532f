import { type Command, InvalidArgumentError, Option } from "commander";

import { brokers } from "../brokers/index.ts";
import { nearestWord } from "../diagnostics/distance.ts";

export const target = (): Option =>
  new Option(
    "-t, --target <target>",
    "broker and version, region or tier, such as rabbitmq@4.3, sqs@eu-west-1 or servicebus@standard; or a .yaml or .json file with a target; or redeliver.config.yaml#prod",
  ).makeOptionMandatory();
/** Collects the values of an option that may be given several times. */
export const several = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];
export const everyStrategy = "a strategy of the broker";
export const strategy = (): Option =>
  new Option("-s, --strategy <strategy>", `how the broker is used: auto, or ${everyStrategy}`).default("auto");
/** Begins a command about a declaration on one target. */
export function onTarget(program: Command, name: string, description: string, file = "the declaration"): Command {
  const command = program.command(name).description(description).argument("<file>", file);
  return command.addOption(target()).addOption(strategy());
}
export const environment = (): Option =>
  new Option("--env <name>", "an environment of the project file, with its target and URLs; the only one by default");
export const project = (): Option =>
  new Option("--project <file>", "the project file; by default redeliver.config.yaml, .json or .ts in this folder");
/** The form of findings: for a person, for a program, or for a tool that shows them beside the code. */
export const reportFormat = (what: string): Option =>
  new Option("-f, --format <format>", what).choices(["text", "json", "sarif", "github"]).default("text");
export const json = (): Option => new Option("--json", "print JSON, refusals included");
export const output = (): Option => new Option("-o, --output <file>", "write to a file instead of the standard output");

/** Accepts one of some choices. */
export function oneOf(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  const meant = nearestWord(text, choices);
  const suggestion = meant === undefined ? "" : `Did you mean ${meant}? `;
  throw new InvalidArgumentError(`${suggestion}Allowed choices are ${choices.join(", ")}.`);
}

/** The formats of all brokers. A command asks for them late, because it takes time to load all brokers. */
export function exportFormats(): readonly string[] {
  return [...new Set(["json", ...Object.values(brokers).flatMap((each) => Object.keys(each.exportFormats))])];
}
