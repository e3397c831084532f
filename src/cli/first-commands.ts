import { Argument, type Command } from "commander";

import { brokers } from "../brokers/index.ts";
import { completionFor, shellNames } from "./completion.ts";
import { print } from "./output.ts";

/**
 * The commands for somebody who begins.
 *
 * @param whole makes a command line with all commands
 */
export function addFirstCommands(program: Command, finish: (exitCode: number) => void, whole: () => Command): void {
  program
    .command("init")
    .description("write a project: a declaration, a Pulumi program and a workflow; asks for missing options")
    .option("--broker <name>", `the broker: ${Object.keys(brokers).join(", ")}`)
    .option("--consumer <name...>", "the consumers")
    .option("--name <name>", "the name of the system; by default the folder's")
    .option("-o, --output <folder>", "the folder to write to", ".")
    .action(async (options) => finish(await (await import("./init.ts")).initCommand(options)));
  program
    .command("demo")
    .description("declare, compile and prove an example for every broker, and write its report")
    .option("-o, --output <folder>", "the folder to write to", "redeliver-demo")
    .option("--verbose", "print the report as text, too")
    .action(async (options) => finish(await (await import("./demo.ts")).demoCommand(options)));
  program
    .command("completion")
    .description("print a script for a shell, so that it completes commands, options and their values")
    .addArgument(new Argument("<shell>", "the shell").choices(shellNames))
    .action(async (shell) => finish(await print(completionFor(whole(), shell))));
}
