import { type Command, Option } from "commander";

import { json } from "./declaration-options.ts";
import { liveOptions } from "./live-options.ts";

export interface JournalOptions {
  readonly journal?: string;
  readonly json?: boolean;
}

/** The environment may have it, because the URL of a database has a password. */
export const journal = (): Option =>
  new Option(
    "--journal <place>",
    "the journal of redrives: a file, or postgres://user@host/database; REDELIVER_JOURNAL, or a file of this user, by default",
  );

/** Letters that the broker moved name their work queue. Many frameworks write none into theirs. */
export const workQueue = (): Option =>
  new Option("--work-queue <name>", "with --queue: the work queue of letters that do not name theirs").conflicts([
    "consumer",
    "parked",
    "whole",
  ]);

/** Adds the commands that watch and control redrives. */
export function addControlCommands(dead: Command, finish: (exitCode: number) => void): void {
  const add = (name: string, description: string): Command =>
    dead.command(name).description(description).addOption(journal()).addOption(json());
  const load = async () => import("./dead-control.ts");
  add("status", "show the last redrives, or one of them with everything that happened to it")
    .argument("[id]", "the id of the redrive")
    .action(async (id, options) => finish(await (await load()).statusCommand(id, options)));
  add("pause", "let a running redrive end between two letters, to go on later")
    .argument("<id>", "the id of the redrive")
    .action(async (id, options) => finish(await (await load()).endCommand(id, options, "pause")));
  add("cancel", "let a redrive end for ever; letters that were not sent stay in the dead queue")
    .argument("<id>", "the id of the redrive")
    .action(async (id, options) => finish(await (await load()).endCommand(id, options, "cancel")));
  const resume = add("resume", "go on with a redrive that was paused, has stopped, or has lost its process")
    .argument("<id>", "the id of the redrive")
    .option("--url <url>", "the broker, if it is another one than at the begin")
    .option("--management-url <url>", "RabbitMQ's management API, if it is another one than at the begin");
  for (const each of liveOptions()) if (/--(ca|cert|key) /.test(each.flags)) resume.addOption(each);
  resume.action(async (id, options) => finish(await (await load()).resumeCommand(id, options)));
}
