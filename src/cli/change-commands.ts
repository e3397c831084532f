import { type Command, Option } from "commander";

import { endpoint, withBroker } from "./comparing-commands.ts";
import { json, onTarget } from "./declaration-options.ts";
import { duration, liveOptions } from "./live-options.ts";

/** The commands about a change of a deployed system. */
export function addChangeCommands(program: Command, finish: (exitCode: number) => void): void {
  const migrate = onTarget(
    program,
    "migrate",
    "show proved steps from the deployed declaration to a new one that no single deployment can make",
    "the new declaration",
  )
    .option(
      "--from <file>",
      "the deployed declaration, its compiled form or an export of its stack (.json); that of the lock by default",
    )
    .option("--from-target <target>", "its target and strategy, if they differ")
    .option("-o, --output <folder>", "write the declaration of each step into this folder")
    .option("--next", "look at the running broker, and move the lock to the next step when nothing is in its way")
    .addOption(new Option("--apply", "also make each step's changes on the running broker").conflicts("next"))
    .option("--back", "with --next or --apply: go back to the declaration before the migration in progress")
    .option("--accept-weaker", "take the shortest way, and agree to what RD304 and RD308 warn of")
    .option("--publishers-moved", "with --next or --apply: say that no program publishes to the old sources any more")
    .option("--wait <duration>", "with --next or --apply: wait this long for queues to empty", duration)
    .option("--url <url>", "the running broker; for RabbitMQ with the virtual host behind the host")
    .addOption(endpoint())
    .addOption(json());
  for (const each of liveOptions()) migrate.addOption(each);
  migrate.action(async (file, options) => {
    const isLive = options.next === true || options.apply === true || options.back === true;
    finish(
      await (isLive
        ? (await import("./migrate-live.ts")).migrateLive(file, options)
        : (await import("./migrate.ts")).migrateCommand(file, options)),
    );
  });
  const lock = program
    .command("lock")
    .description(
      "write down that a declaration is deployed in an environment, so that check proves each change from it",
    )
    .argument("<file>", "the declaration")
    .option("--replace", "also after a change that no deployment makes in place, such as queues that were made anew")
    .option("--live", "only if the environment's running broker has it, with the strategies that run there");
  withBroker(lock).action(async (file, options) =>
    finish(await (await import("./lock.ts")).lockCommand(file, options)),
  );
}
