import { Command, CommanderError, InvalidArgumentError, Option } from "commander";

import { brokers } from "../brokers/index.ts";
import { InternalError } from "../verify/compile.ts";
import { auditCommand } from "./audit.ts";
import { auditedBrokers } from "./audit-source.ts";
import { explainCommand } from "./explain.ts";
import { checkCommand } from "./check.ts";
import { compileCommand, contractCommand, graphCommand, planCommand, reportCommand } from "./commands.ts";
import { leftoversCommand } from "./leftovers.ts";
import { maskCredentials } from "./mask-credentials.ts";

/** What the shell sees: fine; the declaration is refused; wrong usage; a mistake in Redeliver. */
export const exitCodes = Object.freeze({ fine: 0, refused: 1, usage: 2, internal: 3 });

/**
 * Runs the command line.
 *
 * @param words the arguments after the program's name
 * @returns the exit code
 */
export async function run(words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.fine;
  const program = commandLine((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (cause) {
    if (cause instanceof InternalError) {
      process.stderr.write(
        `internal error: ${cause.message}\nThis is a mistake in Redeliver, not in the declaration.\n`,
      );
      return exitCodes.internal;
    }
    if (!(cause instanceof CommanderError)) throw cause;
    // Help and version are fine; whatever else commander ends is wrong usage.
    return cause.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  }
  return exitCode;
}

const all = Object.values(brokers);
const strategies = all.map(({ title, strategyNames }) => `on ${title} ${strategyNames.join(", ")}`).join("; ");
const exports = all.flatMap(({ exportFormats }) => Object.keys(exportFormats));

const target = (): Option =>
  new Option(
    "-t, --target <target>",
    "broker and version, region or tier, such as rabbitmq@4.3, sqs@eu-west-1 or servicebus@standard; or a .yaml or .json file with a target",
  ).makeOptionMandatory();
const strategy = (): Option =>
  new Option("-s, --strategy <strategy>", `how the broker is used: auto, or ${strategies}`).default("auto");
const json = (): Option => new Option("--json", "print JSON, refusals included");
const output = (): Option => new Option("-o, --output <file>", "write to a file instead of the standard output");

function seed(text: string): number {
  const number = Number(text);
  if (/^\d{1,10}$/.test(text) && number <= 0xffff_ffff) return number;
  throw new InvalidArgumentError("A seed is a whole number from 0 to 4294967295.");
}

/** Tells the shell how a command ended. */
type Finish = (exitCode: number) => void;

function commandLine(finish: Finish): Command {
  const program = new Command("redeliver")
    .description("Declares how message consumers retry, and compiles it into the topology that the broker itself runs.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(maskCredentials(text)) })
    .showHelpAfterError("(redeliver --help shows the commands)");
  addCompilerCommands(program, finish);
  addReaderCommands(program, finish);
  addAuditCommand(program, finish);
  addLeftoversCommand(program, finish);
  addPolicyCommand(program, finish);
  for (const command of program.commands) command.exitOverride();
  return program;
}

function addCompilerCommands(program: Command, finish: Finish): void {
  program
    .command("plan")
    .description("show when each attempt is due, how long a message can take to die, how many deliveries it can cause")
    .argument("<file>", "the declaration: .ts, .js, .json or .yaml")
    .addOption(json())
    .action(async (file, options) => finish(await planCommand(file, options)));
  program
    .command("compile")
    .description("print the topology, the contracts and the promises for a target")
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .addOption(
      new Option(
        "-f, --format <format>",
        "json: everything; definitions: a file for rabbitmqctl import_definitions; aws-json: a CloudFormation template",
      )
        .choices(["json", ...exports])
        .default("json"),
    )
    .addOption(new Option("--vhost <name>", "the virtual host named in a definitions file; / where it is left out"))
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await compileCommand(file, options)));
  program
    .command("check")
    .description("compile, then prove for every consumer that nothing is lost, loops or comes early; for CI")
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .addOption(
      new Option("-f, --format <format>", "sarif: for code scanning; github: annotations in GitHub Actions")
        .choices(["text", "json", "sarif", "github"])
        .default("text"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await checkCommand(file, options)));
  program
    .command("contract")
    .description("show what a consumer's code must do for each outcome")
    .argument("<file>", "the declaration")
    .argument("<consumer>", "the consumer's name")
    .addOption(target())
    .addOption(strategy())
    .addOption(
      new Option("--markdown", "a page for other languages and frameworks, with snippets for their clients").conflicts(
        "json",
      ),
    )
    .addOption(output())
    .addOption(json())
    .action(async (file, consumer, options) => finish(await contractCommand(file, consumer, options)));
}

/** What is for people to read. */
function addReaderCommands(program: Command, finish: Finish): void {
  program
    .command("graph")
    .description("draw sources, work queues, tiers and dead queues, and what moves a message between them")
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .addOption(
      new Option("-f, --format <format>", "the form of the picture")
        .choices(["mermaid", "dot", "svg"])
        .default("mermaid"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => finish(await graphCommand(file, options)));
  program
    .command("simulate")
    .description("play a scenario: arrivals, outages, crashes; show delays, queue depths and the worst retry storm")
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .option("--scenario <file>", "what happens: .json or .yaml; without it an hour without an outage")
    .addOption(new Option("--seed <number>", "which random numbers, instead of the scenario's seed").argParser(seed))
    .addOption(output())
    .addOption(json())
    .action(async (file, options) => {
      const { simulateCommand } = await import("./simulate.ts");
      finish(await simulateCommand(file, options));
    });
  program
    .command("report")
    .description("write the topology files, the pictures and one page that shows it all into a folder")
    .argument("<file>", "the declaration")
    .requiredOption("-t, --target <target...>", "one or more targets, such as rabbitmq@4.3")
    .addOption(strategy())
    .requiredOption("-o, --output <folder>", "the folder to write to")
    .addOption(json())
    .action(async (file, options) => finish(await reportCommand(file, options)));
  program
    .command("explain")
    .description("show what a diagnostic means, with an example that fires it and one that does not")
    .argument("<code>", "the code, such as RD101")
    .addOption(json())
    .action((code, options) => finish(explainCommand(code, options)));
}

/** What judges the work of others. */
function addAuditCommand(program: Command, finish: Finish): void {
  const command = program
    .command("audit")
    .description("prove topologies that Redeliver did not make; only reads, and changes nothing");
  for (const { auditor } of auditedBrokers) command.option(`--${auditor.file.option} <file>`, auditor.file.what);
  command
    .option(
      "--url <url>",
      "the management API of a running broker, such as http://user@host:15672 or with the virtual host http://user@host:15672/%2F; " +
        "the user needs the tag management and a permission in each virtual host; " +
        "RABBITMQ_USERNAME and RABBITMQ_PASSWORD count where the URL has none; or a region of AWS, such as sqs:eu-west-1, " +
        "with the credentials that the AWS CLI would use",
    )
    .addOption(
      new Option("--endpoint <url>", "what answers in the place of AWS, such as an emulator").env("SQS_ENDPOINT"),
    )
    .option("--stack <file>", "what pulumi stack export wrote")
    .option("-t, --target <target>", "judge by this version, such as rabbitmq@4.3, whatever the source says")
    .option("--as-version <version>", "tell what an upgrade to this version changes, such as 4.3")
    .addOption(
      new Option("-f, --format <format>", "text: to read; sarif: for code scanning; github: annotations in a workflow")
        .choices(["text", "json", "sarif", "github"])
        .default("text"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (options) => finish(await auditCommand(options)));
}

function addLeftoversCommand(program: Command, finish: Finish): void {
  const command = program
    .command("leftovers")
    .description(
      "show what a system has left on a broker: what bears its name and is not declared any more; only reads",
    )
    .argument("<file>", "the declaration")
    .addOption(target())
    .addOption(strategy())
    .option("--also <file...>", "declarations of other systems there, whose names may begin with this one's")
    .option("--url <url>", "a running broker, as for audit; for RabbitMQ with the virtual host behind the host")
    .addOption(
      new Option("--endpoint <url>", "what answers in the place of AWS, such as an emulator").env("SQS_ENDPOINT"),
    );
  for (const { auditor } of auditedBrokers) command.option(`--${auditor.file.option} <file>`, auditor.file.what);
  command.addOption(json()).action(async (file, options) => finish(await leftoversCommand(file, options)));
}

/** What judges a pull request. */
function addPolicyCommand(program: Command, finish: Finish): void {
  program
    .command("policy")
    .description("judge what pulumi preview is going to do by the rules of the policy pack; for pull requests")
    .requiredOption("--preview <file>", "what pulumi preview --json --show-sames printed; - for the standard input")
    .option("--config <file>", "the options of the policy pack; without them everything is advisory")
    .option("--project <folder>", "where Pulumi.yaml is, so that annotations find the files of the program", ".")
    .option("--stack-tag <name=value...>", "tags of the stack, which a preview does not tell")
    .addOption(
      new Option("-f, --format <format>", "text: to read; sarif: for code scanning; github: annotations in a workflow")
        .choices(["text", "json", "sarif", "github"])
        .default("text"),
    )
    .addOption(output())
    .addOption(json())
    .action(async (options) => {
      const { policyCommand } = await import("./policy.ts");
      finish(await policyCommand(options));
    });
}
