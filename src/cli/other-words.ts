import type { Command } from "commander";

import { brokers } from "../brokers/index.ts";

/** The words of other tools for each command. */
const commands: Readonly<Record<string, string>> = {
  check: "validate lint verify prove test",
  compile: "build generate synth export",
  "compile, or pulumi up": "deploy apply up",
  audit: "scan inspect",
  dead: "dlq dlqs deadletters dead-letter dead-letters redrive replay requeue",
  "pulumi destroy": "destroy delete remove down",
  report: "html docs",
  init: "new create",
  plan: "preview",
  "--version": "version",
};

/** The words of other tools for each option. A command has only some of these options. */
const options: Readonly<Record<string, RegExp>> = {
  "--target": /^--(broker|platform|provider|for)$/,
  "--format": /^--(output-?format|type|reporter)$/,
  "--output": /^--(out|out-?(file|dir)|dest|destination)$/,
  "--scenario": /^--(outages?|arrivals)$/,
  "--definitions": /^--(file|input|export)$/,
  "--version": /^-[vV]$/,
};

const has = (command: Command, long: string): boolean => command.options.some((option) => option.long === long);

function commandMeant(word: string): string | undefined {
  if (/\.([cm]?[jt]s|ya?ml|json)$/.test(word)) return `check ${word}`;
  return Object.keys(commands).find((each) => commands[each]?.split(" ").includes(word));
}

function optionMeant(flag: string, command: Command): string | undefined {
  // Other tools write a long option with one dash.
  if (has(command, `-${flag}`)) return `-${flag}`;
  const takesFile = command.registeredArguments[0]?.name() === "file";
  if (takesFile && /^--(file|input|declaration|config)$/.test(flag)) return `${command.name()} <file>`;
  return Object.keys(options).find((each) => options[each]?.test(flag) === true && has(command, each));
}

function placeOf(word: string, command: Command): string | undefined {
  const target: unknown = command.opts()["target"];
  if (word.includes("://") && has(command, "--url")) return `--url ${word}`;
  if (command.name() === "init") return Object.hasOwn(brokers, word) ? `--broker ${word}` : `--output ${word}`;
  if (/^[\d.]+$/.test(word) && typeof target === "string") return `--target ${target}@${word}`;
  const option = ["--definitions", "--preview"].find((each) => has(command, each));
  return option === undefined ? undefined : `${option} ${word}`;
}

/** The members of commander that refuse a word, with the meaning that the word most likely has. */
const refusals = {
  unknownCommand: { mistake: "unknown command", meant: commandMeant },
  unknownOption: { mistake: "unknown option", meant: optionMeant },
  _excessArguments: { mistake: "unexpected word", meant: placeOf },
} as const;

/** Lets a command name the word that it has in place of one of another tool. */
export function suggestWords(command: Command): void {
  const reporter = command as unknown as Record<string, (given: unknown) => void>;
  for (const [name, { mistake, meant }] of Object.entries(refusals)) {
    const usual = reporter[name]?.bind(command);
    reporter[name] = (given) => {
      const word = typeof given === "string" ? given : (command.args.at(name === "unknownCommand" ? 0 : -1) ?? "");
      const right = meant(word, command);
      if (right === undefined) usual?.(given);
      else command.error(`error: ${mistake} '${word}'\n(Did you mean ${right}?)`);
    };
  }
}
