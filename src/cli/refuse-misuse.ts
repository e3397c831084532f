import { statSync } from "node:fs";

import type { Command } from "commander";

/** Lets every command refuse an output that is also an input, which the output would replace. */
export function refuseMisuse(program: Command): Command {
  return program.hook("preAction", (_, command) => refuseOwnInput(command));
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
