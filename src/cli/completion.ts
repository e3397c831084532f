import type { Command, Option } from "commander";

import { brokers } from "../brokers/index.ts";
import { exportFormats } from "./declaration-options.ts";

/** The shells, each with the way to complete words for it. zsh runs the function of bash. */
const shells: Readonly<Record<string, (program: Command) => string>> = {
  bash: bashScript,
  zsh: (program) => `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bashScript(program)}`,
  fish: fishScript,
};

export const shellNames: readonly string[] = Object.keys(shells);

/** A script that completes the commands, their options and the values of these in a shell. */
export function completionFor(program: Command, shell: string): string {
  return shells[shell]?.(program) ?? "";
}

/** The values that brokers have. An option with choices of its own has these. */
const brokerValues: Readonly<Record<string, () => readonly string[]>> = {
  target: () => Object.values(brokers).map(({ exampleTarget }) => exampleTarget),
  fromTarget: () => brokerValues["target"]?.() ?? [],
  strategy: () => ["auto", ...new Set(Object.values(brokers).flatMap(({ strategyNames }) => strategyNames))],
  format: exportFormats,
  broker: () => Object.keys(brokers),
};

function valuesOf(option: Option): readonly string[] {
  return option.argChoices ?? brokerValues[option.attributeName()]?.() ?? [];
}

/** The options of a command that its help shows. */
function optionsOf(command: Command): readonly Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

function argumentsOf(command: Command): readonly string[] {
  return command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
}

function flagsOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

function bashScript(program: Command): string {
  const values = program.commands.flatMap((command) =>
    optionsOf(command)
      .filter((option) => option.required)
      .map((option) => {
        const places = flagsOf(option).map((flag) => `"${command.name()} ${flag}"`);
        return `    ${places.join("|")}) choices="${valuesOf(option).join(" ")}" ;;`;
      }),
  );
  const options = program.commands.map((command) => {
    const words = [...argumentsOf(command), ...optionsOf(command).flatMap(flagsOf), "--help"];
    return `    "${command.name()} "*) choices="${words.join(" ")}" ;;`;
  });
  return `_redeliver() {
  local choices="" current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${[...values, ...options].join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then choices="${program.commands.map((command) => command.name()).join(" ")}"; fi
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _redeliver redeliver
`;
}

function fishScript(program: Command): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = program.commands.flatMap((command) => [
    `complete -c redeliver -n __fish_use_subcommand -f -a ${command.name()} -d ${quoted(command.description())}`,
    ...argumentsOf(command).map(
      (word) => `complete -c redeliver -n '__fish_seen_subcommand_from ${command.name()}' -f -a ${word}`,
    ),
    ...optionsOf(command).map((option) => {
      const flags = [option.short && `-s ${option.short.slice(1)}`, option.long && `-l ${option.long.slice(2)}`];
      const values = valuesOf(option);
      const value = !option.required ? [] : values.length === 0 ? ["-r"] : ["-x", `-a ${quoted(values.join(" "))}`];
      const parts = [...flags.filter(Boolean), ...value, `-d ${quoted(option.description)}`];
      return `complete -c redeliver -n '__fish_seen_subcommand_from ${command.name()}' ${parts.join(" ")}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}
