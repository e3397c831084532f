import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";

import type { Command, Option } from "commander";

import { several } from "./declaration-options.ts";

/**
 * Lets every command refuse words that it would otherwise follow at a loss: the first of two values for an option that
 * takes one, a long option with one dash, and an output that is also an input.
 */
export function refuseMisuse(program: Command): Command {
  for (const command of program.commands.flatMap((each) => [each, ...each.commands])) {
    for (const option of command.options) {
      if (!option.required) continue;
      // Before commander's own listener, which would forget the first value.
      (command as Command & EventEmitter).prependListener(`option:${option.name()}`, (value: string) => {
        if (option.short !== undefined) refuseOneDash(command, `${option.short}${value}`);
        if (!option.variadic && option.parseArg !== several) refuseSecond(command, option);
      });
    }
  }
  return program.hook("preAction", (_, command) => refuseOwnInput(command));
}

/** A long option with one dash, which commander reads as a short one with its value. */
function refuseOneDash(command: Command, word: string): void {
  const [flag = ""] = word.split("=");
  if (command.options.some(({ long }) => long === `-${flag}`))
    command.error(`error: unknown option '${flag}'\n(Did you mean -${flag}?)`);
}

function refuseSecond(command: Command, option: Option): void {
  if (command.getOptionValueSource(option.attributeName()) !== "cli") return;
  const name = command.name();
  const fix = `leave one out, or run ${name} once for each`;
  command.error(`error: option '${option.flags}' is given twice, and ${name} takes one value; ${fix}`);
}

/** Looks before any work, because the answer to wrong usage may go to the output, too. */
function refuseOwnInput(command: Command): void {
  const output = fileAt(command.opts()["output"]);
  const input = output === undefined ? undefined : inputsOf(command).find((each) => fileAt(each) === output);
  if (input === undefined) return;
  command.error(`error: the output would replace the input ${String(input)}; name another file with --output`);
}

/** The words that name a file to read. A target may be a word instead, and no file with its name is read. */
function inputsOf(command: Command): readonly unknown[] {
  const ofArguments = command.registeredArguments.map((each, index) =>
    ["file", "newer"].includes(each.name()) ? command.processedArgs[index] : undefined,
  );
  const ofOptions = command.options.map((option) => {
    const value: unknown = command.opts()[option.attributeName()];
    if (option.flags.endsWith("<file>")) return option.attributeName() === "output" ? undefined : value;
    return option.flags.endsWith("<target>") && /\.(?:json|ya?ml)$/i.test(String(value)) ? value : undefined;
  });
  return [...ofArguments, ...ofOptions].flat();
}

/** Identifies a file under any of its names. Undefined if it does not exist, and for a pipe or a terminal. */
function fileAt(path: unknown): string | undefined {
  try {
    const found = typeof path === "string" ? statSync(path, { bigint: true }) : undefined;
    return found?.isFile() === true ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    return undefined;
  }
}
