import type { Command, Option } from "commander";

import { catalogue } from "../diagnostics/catalogue.ts";
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

/** All commands below a command, each with the words that lead to it. */
function commandsBelow(
  command: Command,
  before = "",
): readonly { readonly words: string; readonly command: Command }[] {
  return command.commands.flatMap((each) => {
    const words = `${before}${each.name()}`;
    return [{ words, command: each }, ...commandsBelow(each, `${words} `)];
  });
}

function argumentsOf(command: Command): readonly string[] {
  return command.registeredArguments.flatMap((each) =>
    each.name() === "code" ? Object.keys(catalogue) : (each.argChoices ?? []),
  );
}

function flagsOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

function bashScript(program: Command): string {
  const cases = commandsBelow(program).flatMap(({ words, command }) => {
    const values = optionsOf(command)
      .filter((option) => option.required)
      .map((option) => {
        const places = flagsOf(option).map((flag) => `"${words}"*" ${flag} "`);
        return `    ${places.join("|")}) choices="${valuesOf(option).join(" ")}" ;;`;
      });
    const names = command.commands.map((each) => each.name());
    const others = [...names, ...argumentsOf(command), ...optionsOf(command).flatMap(flagsOf), "--help"];
    // Behind a command that has commands of its own comes one of these alone.
    return [...values, `    "${words} "${names.length > 0 ? "" : "*"}) choices="${others.join(" ")}" ;;`];
  });
  return `_redeliver() {
  local choices="" current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[*]:1:$((COMP_CWORD-1))} " in
    " ") choices="${program.commands.map((command) => command.name()).join(" ")}" ;;
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _redeliver redeliver
`;
}

/** Fish has the words before the cursor from its command line alone. */
const fishFunction = `function __redeliver_before
  set -l words (commandline -opc)
  set -e words[1]
  string match -q -- $argv[1] "$words "
end
`;

function fishScript(program: Command): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const line = (before: string, ...parts: readonly string[]): string =>
    `complete -c redeliver -n ${quoted(`__redeliver_before "${before}"`)} ${parts.join(" ")}\n`;
  const names = (command: Command, before: string): readonly string[] =>
    command.commands.map((each) => line(before, "-f", `-a ${each.name()}`, `-d ${quoted(each.description())}`));
  const lines = commandsBelow(program).flatMap(({ words, command }) => [
    ...names(command, `${words} `),
    ...argumentsOf(command).map((word) => line(`${words} *`, "-f", `-a ${word}`)),
    ...optionsOf(command).map((option) => {
      const flags = [option.short && `-s ${option.short.slice(1)}`, option.long && `-l ${option.long.slice(2)}`];
      const values = valuesOf(option);
      const value = !option.required ? [] : values.length === 0 ? ["-r"] : ["-x", `-a ${quoted(values.join(" "))}`];
      return line(
        `${words} *`,
        ...flags.filter((flag) => flag !== undefined),
        ...value,
        `-d ${quoted(option.description)}`,
      );
    }),
  ]);
  return [fishFunction, ...names(program, " "), ...lines].join("");
}
