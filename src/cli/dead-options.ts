import { type Command, InvalidArgumentError, Option } from "commander";

import { durationPattern, parseDurationMs } from "../declare/duration.ts";
import type { FilterInput } from "../operate/filter.ts";
import { json, strategy, target } from "./declaration-options.ts";
import { addControlCommands, journal, workQueue } from "./dead-control-options.ts";
import { addTakingCommands, count } from "./dead-taking-options.ts";
import { liveOptions } from "./live-options.ts";

/** The options that name a dead queue and its broker. */
export interface PlaceOptions {
  readonly target?: string;
  readonly strategy: string;
  readonly consumer?: string;
  readonly queue?: string;
  /** With `queue`: the work queue of letters that do not name theirs. */
  readonly workQueue?: string;
  /** With `queue`: the work queue that the consumer had before, if the dead queue is a shared one today. It is also a filter. */
  readonly failedIn?: string | undefined;
  /** True for the queue with the parked letters of the consumer. */
  readonly parked?: boolean;
  readonly url?: string;
  readonly managementUrl?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: boolean;
}

export type FilterOptions = PlaceOptions & FilterInput;

/** Adds the commands for dead letters. */
export function addDeadCommands(program: Command, finish: (exitCode: number) => void): void {
  const dead = program.command("dead").description("look at dead letters, export them, and send them again");
  const add = (name: string, description: string): Command => {
    const command = dead.command(name).description(description).argument("[file]", "the declaration");
    return withPlace(command);
  };
  withFilter(add("list", "list dead letters, the oldest first"))
    .addOption(new Option("--limit <number>", "the most letters to list").argParser(count).default(100))
    .action(async (file, options) => finish(await (await import("./dead.ts")).listCommand(file, options)));
  withFilter(add("groups", "count dead letters by reason, error and type")).action(async (file, options) =>
    finish(await (await import("./dead.ts")).groupsCommand(file, options)),
  );
  add("show", "show everything about one letter")
    .addOption(new Option("--id <id>", "the id of its message").conflicts("position"))
    .addOption(new Option("--position <number>", "its place in the queue, from 1").argParser(count))
    .action(async (file, options) => finish(await (await import("./dead.ts")).showCommand(file, options)));
  withFilter(add("export", "write dead letters with everything into a new file of JSON lines; they stay in the queue"))
    .requiredOption("-o, --output <file>", "the file, which must not exist")
    .action(async (file, options) => finish(await (await import("./dead-export.ts")).exportCommand(file, options)));
  const send = (name: string, description: string): Command =>
    withFilter(add(name, description))
      .addOption(workQueue())
      .addOption(new Option("--rate <number>", "the most letters a second").argParser(count))
      .addOption(
        new Option(
          "--wait <duration>",
          "the wait after each step, before the look for letters that died again; 0s for none",
        )
          .argParser(duration)
          .default(30_000, "30s"),
      )
      .addOption(
        new Option(
          "--generations <number>",
          "letters that were sent again so often are parked, or stay; 3 by default, or as declared",
        ).argParser(count),
      );
  send("plan", "show how many letters a redrive would send where; moves nothing").action(async (file, options) =>
    finish(await (await import("./dead-redrive.ts")).redriveCommand(file, { ...options, stopAbove: 0 })),
  );
  send("redrive", "send letters to their work queues again, in steps of 1, 10, 100, …; without --confirm only the plan")
    .addOption(
      new Option("--stop-above <percent>", "stop if more of the sent letters than this have died again")
        .argParser(count)
        .default(10),
    )
    .addOption(new Option("--confirm <count>", "the number of letters in the plan").argParser(count))
    .option("--whole", "let SQS move the whole queue by itself, without steps, history and most generation")
    .option("--cancel", "with --whole: end a move that runs; letters that were moved stay there")
    .option("--why <text>", "the reason, for the journal")
    .addOption(journal())
    .action(async (file, options) => {
      if (options.whole === true) finish(await (await import("./dead-whole.ts")).wholeCommand(file, options));
      else finish(await (await import("./dead-redrive.ts")).redriveCommand(file, options));
    });
  addControlCommands(dead, finish);
  addTakingCommands(add, withFilter, finish);
}

function duration(text: string): number {
  if (durationPattern.test(text) && parseDurationMs(text) < 2 ** 31) return parseDurationMs(text);
  throw new InvalidArgumentError("It is a duration such as 30s or 10m, and at most 24d.");
}

function withPlace(command: Command): Command {
  command
    .addOption(target().makeOptionMandatory(false))
    .addOption(strategy())
    .option("--consumer <name>", "the consumer whose dead letters are meant")
    .addOption(new Option("--parked", "the parked letters of the consumer, and not its dead ones").conflicts("queue"))
    .addOption(
      new Option(
        "--queue <name>",
        "a queue that no declaration names; with --consumer: a dead queue that it had before",
      ),
    )
    .option(
      "--url <url>",
      "the broker: amqps://user@host/vhost for RabbitMQ, RABBITMQ_URL by default; an endpoint that replaces AWS for SQS",
    )
    .option(
      "--management-url <url>",
      "RabbitMQ's management API, which shows if a look is safe: https://host:15671; RABBITMQ_MANAGEMENT_URL by default",
    );
  for (const each of liveOptions()) if (/--(ca|cert|key) /.test(each.flags)) command.addOption(each);
  return command.addOption(json());
}

function withFilter(command: Command): Command {
  return command
    .option("--group <id>", "only letters of this group, as `dead groups` names it")
    .option("--reason <code>", "only letters with this reason, such as PERMANENT_FAILURE")
    .option("--error <text>", "only letters with this text in the first line of their error")
    .option("--type <name>", "only letters of this message type")
    .option("--failed-in <name>", "only letters that died in this queue or service")
    .option(
      "--from <time>",
      "only letters that died at this time or later: 2026-03-01T08:00:00Z, or 2h for two hours ago",
    )
    .option("--to <time>", "only letters that died before this time")
    .option("--routing-key <key>", "only letters that were published with this key; * stands for any text")
    .option("--header <name=value...>", "only letters with this header, or with this value in it")
    .option("--body <path=value...>", "only letters with this value in their JSON body, such as order.id=17")
    .option("--generation <number>", "only letters that were sent again so often")
    .option("--redrive <id>", "only letters of this redrive that died again");
}
