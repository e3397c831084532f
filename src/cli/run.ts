import { Command, CommanderError, Help, InvalidArgumentError, Option } from "commander";

import { brokers } from "../brokers/index.ts";
import { allowUnread } from "../foreign/unread.ts";
import { visible } from "../diagnostics/visible.ts";
import { InternalError } from "../compile/compile.ts";
import { auditCommand } from "./audit.ts";
import { auditedBrokers, stateTools } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import { addDeadCommands } from "./dead-options.ts";
import { liveOptions } from "./live-options.ts";
import { addFirstCommands } from "./first-commands.ts";
import { explainCommand } from "./explain.ts";
import { checkCommand } from "./check.ts";
import { addChangeCommands } from "./change-commands.ts";
import { addComparingCommands } from "./comparing-commands.ts";
import { environment, everyStrategy, exportFormats, json, oneOf, output } from "./declaration-options.ts";
import { onTarget, project, reportFormat, several, strategy, target } from "./declaration-options.ts";
import { compileCommand, contractCommand, graphCommand, planCommand, reportCommand } from "./commands.ts";
import { withHelp } from "./help.ts";
import { refuseMisuse } from "./refuse-misuse.ts";
import { ownVersion } from "./read-packaged.ts";
import { flushed, hidePasswordsIn, writeError, writeOut } from "./output.ts";

/**
 * Runs the command line.
 *
 * @param words the arguments after the program's name
 * @returns the exit code
 */
export async function run(words: readonly string[]): Promise<number> {
  hidePasswordsIn(words);
  const exitCode = await runCommand(words);
  return (await flushed()) ? exitCode : exitCodes.usage;
}

async function runCommand(words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.fine;
  const program = commandLine(words, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) return fail(cause);
    // Help and version are fine. Every other end by commander is wrong usage.
    return cause.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  }
  return exitCode;
}

/**
 * Reports an unexpected error. Unless Redeliver itself found it, the stack shows its place.
 *
 * @returns the exit code
 */
export function fail(cause: unknown): number {
  const what = cause instanceof Error && !(cause instanceof InternalError) ? cause.stack : undefined;
  writeError(`internal error: ${what ?? (cause instanceof Error ? cause.message : String(cause))}\n`);
  if (cause instanceof InternalError) writeError("This is a mistake in Redeliver, not in the declaration.\n");
  return exitCodes.internal;
}

/** The main thread takes this option away and runs the command again and again. Here it is for the help. */
const watch = (): Option => new Option("--watch", "run again after each change of the files");

function seed(text: string): number {
  const number = Number(text);
  if (/^\d{1,10}$/.test(text) && number <= 0xffff_ffff) return number;
  throw new InvalidArgumentError("A seed is a whole number from 0 to 4294967295.");
}

/** Only the help names the strategies, because it takes time to load all brokers. */
function strategies(): string {
  const all = Object.values(brokers);
  return all.map(({ title, strategyNames }) => `on ${title} ${strategyNames.join(", ")}`).join("; ");
}

/** Accepts a format of any broker. */
function exportFormat(text: string): string {
  return oneOf(text, exportFormats());
}

/** Sets the exit code of a command. */
type Finish = (exitCode: number) => void;

/**
 * The commands, with those that the words need.
 *
 * @param finish receives the exit code of the command that ran
 */
export function commandLine(words: readonly string[], finish: Finish): Command {
  const program = new Command("redeliver")
    .description("Declares how message consumers retry, and compiles it into the topology that the broker itself runs.")
    .version(ownVersion())
    .configureOutput({
      writeOut,
      writeErr: writeError,
      // A word of the command line may have several lines. Only the suggestion gets a line of its own.
      outputError: (text, write) => write(`${visible(text.trimEnd()).replace("\u240A(Did", "\n(Did")}\n`),
    })
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(everyStrategy, strategies),
    })
    .showHelpAfterError("(redeliver --help shows the commands)");
  addCompilerCommands(program, finish);
  addReaderCommands(program, finish);
  addFirstCommands(program, finish, () => commandLine([], finish));
  // The options of the rest name all brokers, so a compiler's command does without them.
  if (!program.commands.some((command) => command.name() === words[0])) {
    addAuditCommand(program, finish);
    addComparingCommands(program, finish);
    addChangeCommands(program, finish);
    addPolicyCommand(program, finish);
    addDeadCommands(program, finish);
  }
  for (const command of program.commands.flatMap((each) => [each, ...each.commands])) {
    const takes = command.registeredArguments[0]?.name() ?? "nothing";
    const isAboutBroker = takes === "nothing" && command.options.some(({ long }) => long === "--url");
    if (takes !== "file" && !isAboutBroker) continue;
    command.addOption(environment()).addOption(project());
    // The project file names the declaration, too, before the words come here.
    command.usage(command.usage().replace("<file>", "[file]"));
  }
  return refuseMisuse(withHelp(program));
}

function addCompilerCommands(program: Command, finish: Finish): void {
  program
    .command("plan")
    .description(
      "show when each attempt is due, how long a message can take to die, how many deliveries it can cause; with a target, the resources under each strategy",
    )
    .argument("<file>", "the declaration: .ts, .js, .json or .yaml")
    .addOption(target().makeOptionMandatory(false))
    .addOption(strategy())
    .addOption(watch())
    .addOption(json())
    .action(async (file, options) => finish(await planCommand(file, options)));
  onTarget(program, "compile", "print the topology, the contracts and the promises for a target")
    .option(
      "-f, --format <format>",
      "json: everything; definitions: a file for rabbitmqctl import_definitions; aws-json: a CloudFormation template; emulator-config: a file for the emulator of Service Bus; terraform: resources in Terraform's JSON syntax",
      exportFormat,
      "json",
    )
    .option("--vhost <name>", "the virtual host in a definitions file; / by default")
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await compileCommand(file, options)));
  onTarget(
    program,
    "check",
    "compile, then prove for every consumer that nothing is lost, loops or comes early; for CI",
  )
    .addOption(reportFormat("sarif: for code scanning; github: annotations in GitHub Actions"))
    .option(
      "--from <file>",
      "the deployed declaration, its compiled form or an export of its stack (.json): also prove the change from it; that of the lock by default",
    )
    .option("--from-target <target>", "its target and strategy, if they differ")
    .addOption(output())
    .addOption(watch())
    .addOption(json())
    .action(async (file, options) => finish(await checkCommand(file, options)));
  onTarget(program, "contract", "show the operations that a consumer's code performs for each outcome")
    .argument("<consumer>", "the consumer's name")
    .addOption(
      new Option("--markdown", "a page for other languages and frameworks, with code for their clients").conflicts(
        "json",
      ),
    )
    .addOption(
      new Option(
        "--client <text>",
        "this page with the code for clients with this text in their name alone, such as spring or .net",
      ).conflicts("json"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (file, consumer, options) => finish(await contractCommand(file, consumer, options)));
}

/** Commands with output for people to read. */
function addReaderCommands(program: Command, finish: Finish): void {
  onTarget(
    program,
    "graph",
    "draw sources, work queues, tiers and dead queues, with the moves of a message between them",
  )
    .addOption(
      new Option("-f, --format <format>", "the form of the picture")
        .choices(["mermaid", "dot", "svg"])
        .default("mermaid"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await graphCommand(file, options)));
  onTarget(
    program,
    "simulate",
    "play a scenario: arrivals, outages, crashes; show delays, queue depths and the worst retry storm",
  )
    .option("--scenario <file>", "the scenario, .json or .yaml; by default an hour without an outage")
    .option("--seed <number>", "the seed of the random numbers, instead of the scenario's", seed)
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await (await import("./simulate.ts")).simulateCommand(file, options)));
  program
    .command("report")
    .description("write the topology files, the pictures and one page with all of it into a folder")
    .argument("<file>", "the declaration")
    .addOption(
      new Option("-t, --target <target>", "a target, such as rabbitmq@4.3; give it once for each")
        .argParser(several)
        .makeOptionMandatory(),
    )
    .addOption(strategy())
    .requiredOption("-o, --output <folder>", "the folder to write to")
    .addOption(watch())
    .addOption(json())
    .action(async (file, options) => finish(await reportCommand(file, options)));
  program
    .command("explain")
    .description("explain a diagnostic, with an example that fires it and one that does not")
    .argument("<code>", "the code, such as RD101")
    .addOption(json())
    .action((code, options) => finish(explainCommand(code, options)));
}

/** Commands that judge foreign topologies. */
function addAuditCommand(program: Command, finish: Finish): void {
  const command = program
    .command("audit")
    .description("prove topologies that Redeliver did not make; only reads, and changes nothing");
  for (const { auditor } of auditedBrokers()) command.option(`--${auditor.file.option} <file>`, auditor.file.what);
  for (const { flags, what } of stateTools) command.option(flags, what);
  command
    .option(
      "--url <url>",
      "the management API of a running broker, such as http://user@host:15672 or with the virtual host http://user@host:15672/%2F; " +
        "the user needs the tag management and a permission in each virtual host; " +
        "without them in the URL, RABBITMQ_USERNAME and RABBITMQ_PASSWORD apply; or a region of AWS, such as sqs:eu-west-1, " +
        "with the credentials of the AWS CLI",
    )
    .addOption(new Option("--endpoint <url>", "the address of an emulator that replaces AWS").env("SQS_ENDPOINT"))
    .option(`--${allowUnread}`, "judge the readable resources of a state, although others cannot be read")
    .option("-t, --target <target>", "judge by this version, such as rabbitmq@4.3, instead of the source's")
    .option("--as-version <version>", "report the changes that an upgrade to this version brings, such as 4.3")
    .addOption(reportFormat("text: to read; sarif: for code scanning; github: annotations in a workflow"))
    .addOption(output())
    .addOption(json())
    .action(async (options) => finish(await auditCommand(options)));
  for (const each of liveOptions()) command.addOption(each);
}

/** The command that judges a pull request. */
function addPolicyCommand(program: Command, finish: Finish): void {
  program
    .command("policy")
    .description("judge a pulumi preview by the rules of the policy pack; for pull requests")
    .requiredOption("--preview <file>", "the output of pulumi preview --json --show-sames; - for the standard input")
    .option("--config <file>", "the options of the policy pack; without them every rule is advisory")
    .option("--project <folder>", "the folder of Pulumi.yaml, so that annotations find the program's files", ".")
    .option("--stack-tag <name=value...>", "tags of the stack, which a preview does not contain")
    .addOption(reportFormat("text: to read; sarif: for code scanning; github: annotations in a workflow"))
    .addOption(output())
    .addOption(json())
    .action(async (options) => finish(await (await import("./policy.ts")).policyCommand(options)));
}
