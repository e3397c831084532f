import { type Command, Option } from "commander";

import { json, strategy, target } from "./declaration-options.ts";

/** The commands about a change of a deployed system. */
export function addChangeCommands(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("migrate")
    .description("show proved steps from the deployed declaration to a new one that no single deployment can make")
    .argument("<file>", "the new declaration")
    .addOption(target())
    .addOption(strategy())
    .addOption(new Option("--from <file>", "the deployed declaration; that of the lock by default"))
    .addOption(new Option("--from-target <target>", "its target and strategy, if they differ"))
    .addOption(new Option("-o, --output <folder>", "write the declaration of each step into this folder"))
    .addOption(json())
    .action(async (file, options) => {
      const { migrateCommand } = await import("./migrate.ts");
      finish(await migrateCommand(file, options));
    });
  program
    .command("lock")
    .description(
      "write down that a declaration is deployed in an environment, so that check proves each change from it",
    )
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .option("--replace", "also after a change that no deployment makes in place, such as queues that were made anew")
    .addOption(json())
    .action(async (file, options) => {
      const { lockCommand } = await import("./lock.ts");
      finish(await lockCommand(file, options));
    });
}
