import { type Command, Option } from "commander";

import { type Audited, auditedBrokers, stateTools } from "./audit-source.ts";
import { json, output, several, strategy, target } from "./declaration-options.ts";
import { leftoversCommand } from "./leftovers.ts";
import { liveOptions } from "./live-options.ts";

const part = (verb: string): Option =>
  new Option("--part <name>", `the virtual host, region or namespace to ${verb}, if the input has several`);

/** The commands that compare a declaration with a broker. */
export function addComparingCommands(program: Command, finish: (exitCode: number) => void): void {
  const diff = program
    .command("diff")
    .description(
      "compare a declaration with a broker or a newer one, and judge each difference by its effect on messages; only reads",
    )
    .argument("<file>", "the declaration")
    .argument("[newer]", "a newer declaration to compare with, instead of a broker")
    .addOption(
      new Option("-f, --format <format>", "markdown: for a pull request; sarif and github: beside the code")
        .choices(["text", "json", "sarif", "github", "markdown"])
        .default("text"),
    )
    .addOption(part("compare"))
    .addOption(output());
  withBroker(diff).action(async (file, newer, options) =>
    finish(await (await import("./diff.ts")).diffCommand(file, newer, options)),
  );
  const adopt = program
    .command("adopt")
    .description(
      "infer a declaration with the same names from a topology that Redeliver did not make; only reads, and writes the files that you name",
    )
    .addOption(target().makeOptionMandatory(false))
    .option("--name <name>", "the name of the system, if Redeliver did not make it", "adopted")
    .option("--queue <name>", "a work queue to adopt, instead of all; give it once for each", several)
    .addOption(part("adopt"))
    .option("--move", "declare a new queue for each consumer whose old one cannot get the arguments that it needs")
    .option("-o, --output <file>", "write the declaration to a new file instead of the standard output")
    .option("--programs", "also write the target, a Pulumi program and a program for each consumer beside --output")
    .option(
      "--import <file>",
      "write a new file for pulumi import --file, with each resource that is as declared; a name that ends in .tf.json gets import blocks for Terraform",
    );
  for (const { flags, what } of stateTools) adopt.option(flags, what);
  withBroker(adopt, ({ broker }) => broker.adopter !== undefined, []).action(async (options) =>
    finish(await (await import("./adopt.ts")).adoptCommand(options)),
  );
  const leftovers = program
    .command("leftovers")
    .description("list the system's resources that are no longer declared; only reads")
    .argument("<file>", "the declaration")
    .option(
      "--also <file>",
      "the declaration of another system there, whose name may begin with this one's; give it once for each",
      several,
    )
    .option(
      "--from <file>",
      "an earlier declaration of the system, with names of queues that it had; give it once for each",
      several,
    );
  withBroker(leftovers).action(async (file, options) => finish(await leftoversCommand(file, options)));
}

export const endpoint = (): Option =>
  new Option("--endpoint <url>", "the address of an emulator that replaces AWS").env("SQS_ENDPOINT");

/** Adds the options for a target and for a broker or its export. Those of a broker without an offer stay unmentioned. */
export function withBroker(
  command: Command,
  isOffered: (audited: Audited) => boolean = () => true,
  first: readonly Option[] = [target()],
): Command {
  const offered = auditedBrokers().filter(isOffered);
  for (const each of first) command.addOption(each);
  command
    .addOption(strategy())
    .option("--url <url>", "a running broker, as for audit; for RabbitMQ with the virtual host behind the host")
    .addOption(endpoint().hideHelp(!offered.some(({ auditor }) => auditor.live?.kind === "sdk")));
  for (const audited of auditedBrokers()) {
    const { option, what } = audited.auditor.file;
    command.addOption(new Option(`--${option} <file>`, what).hideHelp(!isOffered(audited)));
  }
  for (const each of liveOptions()) command.addOption(each);
  return command.addOption(json());
}
