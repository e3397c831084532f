import { type Command, InvalidArgumentError, Option } from "commander";

import { journal, workQueue } from "./dead-control-options.ts";

/** Adds the commands that take letters out of a dead queue, or bring them back into it. */
export function addTakingCommands(
  add: (name: string, description: string) => Command,
  withFilter: (command: Command) => Command,
  finish: (exitCode: number) => void,
): void {
  const confirm = (): Option =>
    new Option("--confirm <count>", "the number of letters; without it nothing moves").argParser(count);
  const backup = (): Option =>
    new Option("--backup <file>", "a new file for the letters, in the form of an export").makeOptionMandatory();
  const take = (name: string, description: string): Command =>
    withFilter(add(name, description))
      .addOption(confirm())
      .addOption(journal())
      .requiredOption("--why <text>", "the reason, for the letter's history or the answer")
      .option("--by <name>", "the person who decides; the user of the system by default");
  add("import", "bring the letters of an export back into their dead queue")
    .requiredOption("-i, --input <file>", "the file that dead export, discard or edit wrote")
    .option("--into <queue>", "another queue than the file names")
    .option("--cut-off", "take the whole letters of a file that was cut off")
    .addOption(new Option("--skip <count>", "leave out so many letters that are there already").argParser(count))
    .addOption(confirm())
    .addOption(journal())
    .action(async (file, options) => finish(await (await import("./dead-import.ts")).importCommand(file, options)));
  take("park", "move letters into the queue for parked letters, with the reason")
    .option("--into <queue>", "the queue for parked letters, if no declaration names it")
    .action(async (file, options) => finish(await (await import("./dead-take-out.ts")).parkCommand(file, options)));
  take("discard", "remove letters after they are in a backup file")
    .addOption(backup())
    .action(async (file, options) => finish(await (await import("./dead-take-out.ts")).discardCommand(file, options)));
  take("edit", "change letters by a function of your own, and send them to their work queues again")
    .requiredOption("--with <file>", "a module with the function as its default export, and a schema if you like")
    .addOption(backup().makeOptionMandatory(false))
    .addOption(workQueue())
    .addOption(new Option("--generations <number>", "letters that were sent again so often stay").argParser(count))
    .action(async (file, options) => finish(await (await import("./dead-edit.ts")).editCommand(file, options)));
}

export function count(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a whole number of at least 1.");
}
