import type { Command, Option } from "commander";

import { oneOf } from "./declaration-options.ts";
import { suggestWords } from "./other-words.ts";

const examples: Readonly<Record<string, readonly string[]>> = {
  redeliver: ["demo", "check shop.yaml --target rabbitmq@4.3", "audit --definitions definitions.json"],
  plan: ["plan shop.yaml", "plan shop.yaml --target rabbitmq@4.3"],
  compile: ["compile shop.yaml --target rabbitmq@4.3 --format definitions --output shop.json"],
  check: ["check shop.yaml --target rabbitmq@4.3", "check shop.yaml --target servicebus@standard --format github"],
  contract: [
    "contract shop.yaml billing --target rabbitmq@4.3 --markdown",
    "contract shop.yaml billing --target rabbitmq@4.3 --client spring",
  ],
  graph: ["graph shop.yaml --target rabbitmq@4.3 --format svg --output shop.svg"],
  simulate: ["simulate shop.yaml --target rabbitmq@4.3 --scenario outage.yaml --seed 7"],
  report: ["report shop.yaml --target rabbitmq@4.3 --target servicebus@standard --output out"],
  explain: ["explain RD101"],
  init: ["init --broker rabbitmq --consumer billing shipping --name shop --output project"],
  demo: ["demo --output out"],
  completion: [
    "completion bash >> ~/.bashrc",
    "completion zsh >> ~/.zshrc",
    "completion fish > ~/.config/fish/completions/redeliver.fish",
  ],
  audit: ["audit --definitions definitions.json --as-version 4.3", "audit --url http://guest@localhost:15672"],
  adopt: [
    "adopt --definitions definitions.json --name shop --output adopted.yaml",
    "adopt --url http://guest@localhost:15672/%2F --output adopted.yaml --import import.json",
  ],
  leftovers: ["leftovers shop.yaml --target rabbitmq@4.3 --definitions definitions.json"],
  migrate: ["migrate shop.yaml --target rabbitmq@4.3 --from shop.yaml --output steps"],
  lock: ["lock --env prod"],
  diff: ["diff shop.yaml --target rabbitmq@4.3 --url http://guest@localhost:15672/%2F"],
  policy: ["policy --preview preview.json --format github"],
  dead: [
    "dead groups shop.yaml --target rabbitmq@4.3 --consumer billing --url amqps://user@host --management-url https://host:15671",
    "dead redrive --env prod --consumer billing --group 1a2b3c4d --confirm 12",
  ],
  "dead list": [
    "dead list --env prod --consumer billing --reason PERMANENT_FAILURE --from 2h",
    "dead list --queue my-dead-queue --url amqps://user@host --management-url https://host:15671",
  ],
  "dead groups": [
    "dead groups --env prod --consumer billing",
    "dead groups --queue shop-billing-dead --target sqs@eu-west-1",
  ],
  "dead show": ["dead show --env prod --consumer billing --id 4712"],
  "dead export": ["dead export --env prod --consumer billing --group 1a2b3c4d --output backup.ndjson"],
  "dead plan": ["dead plan --env prod --consumer billing --group 1a2b3c4d"],
  "dead redrive": [
    "dead redrive --env prod --consumer billing --group 1a2b3c4d",
    'dead redrive --env prod --consumer billing --group 1a2b3c4d --confirm 12 --why "vouchers are free"',
  ],
  "dead status": ["dead status", "dead status 5e0c1d2f"],
  "dead pause": ["dead pause 5e0c1d2f"],
  "dead cancel": ["dead cancel 5e0c1d2f"],
  "dead resume": ["dead resume 5e0c1d2f"],
  "dead import": ["dead import --env prod --consumer billing --input expired.ndjson --confirm 40"],
  "dead park": ['dead park --env prod --consumer billing --group 1a2b3c4d --why "no such customer" --confirm 12'],
  "dead discard": [
    'dead discard --env prod --consumer billing --reason EXPIRED --why "too old" --backup expired.ndjson --confirm 40',
  ],
  "dead edit": [
    'dead edit --env prod --consumer billing --with edit.ts --why "zip codes"',
    'dead edit --env prod --consumer billing --with edit.ts --why "zip codes" --backup originals.ndjson --confirm 7',
  ],
};

/** The words that lead to a command. The program itself has its name. */
function wordsOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${wordsOf(parent)} ${command.name()}` : command.name();
}

/** The members of a command that report wrong usage. Its types leave them out. */
interface Reporter {
  missingMandatoryOptionValue: (option: Option) => void;
  unknownOption: (flag: string) => void;
  missingArgument: (name: string) => void;
}

/**
 * Gives examples to a program and its commands. A command names a mistyped option before one that is missing, because
 * usually the first is the reason for the second.
 */
export function withHelp(program: Command): Command {
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    const own = examples[wordsOf(command)] ?? [];
    const lines = own.map((words) => `  $ redeliver ${words}\n`);
    command.exitOverride();
    suggestWords(command);
    for (const each of [...command.options, ...command.registeredArguments]) {
      const { argChoices } = each;
      // Unlike commander's own refusal, this one names the nearest choice.
      if (argChoices !== undefined) each.argParser((text) => oneOf(text, argChoices));
    }
    if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.join("")}`);
    const reporter = command as Command & Reporter;
    const [example = ""] = own;
    reporter.missingMandatoryOptionValue = (option) => {
      const mistyped = command.args.find((word) => /^-./.test(word));
      if (mistyped !== undefined) reporter.unknownOption(mistyped);
      const target = command.args.find((word) => option.long === "--target" && /^[a-z]+[@:=]/.test(word));
      const meant = target === undefined ? "" : `\n(Did you mean --target ${target.replace(/[:=]/, "@")}?)`;
      command.error(`error: required option '${option.flags}' not specified, as in redeliver ${example}${meant}`);
    };
    reporter.missingArgument = (name) =>
      command.error(`error: missing required argument '${name}', as in redeliver ${example}`);
  }
  return program;
}
