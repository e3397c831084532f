import { type Command, Option } from "commander";

import { json, onTarget } from "./declaration-options.ts";

/** The commands about a change of a deployed system. */
export function addChangeCommands(program: Command, finish: (exitCode: number) => void): void {
  onTarget(
    program,
    "migrate",
    "show proved steps from the deployed declaration to a new one that no single deployment can make",
    "the new declaration",
  )
    .addOption(new Option("--from <file>", "the deployed declaration; that of the lock by default"))
    .addOption(new Option("--from-target <target>", "its target and strategy, if they differ"))
    .addOption(new Option("-o, --output <folder>", "write the declaration of each step into this folder"))
    .addOption(json())
    .action(async (file, options) => finish(await (await import("./migrate.ts")).migrateCommand(file, options)));
  onTarget(
    program,
    "lock",
    "write down that a declaration is deployed in an environment, so that check proves each change from it",
  )
    .option("--replace", "also after a change that no deployment makes in place, such as queues that were made anew")
    .addOption(json())
    .action(async (file, options) => finish(await (await import("./lock.ts")).lockCommand(file, options)));
}
