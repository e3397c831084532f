import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

import { deadQueue } from "./dead-stage.ts";
import type { DeployedSystem } from "./deployed-system.ts";
import { type Answer, answerOf, runCommand } from "./run-command.ts";
import { temporaryFolder } from "./temporary-folder.ts";

type Where = Pick<DeployedSystem, "broker" | "url">;

/** The words that name a broker. */
export const at = ({ broker, url }: Where): string[] => [
  `--url=${url}`,
  `--management-url=${broker.managementUrl}`,
  "--json",
];

/** A command that names the dead queue. */
export const byQueue = (system: Where, command: string, ...words: readonly string[]): string[] => [
  "dead",
  command,
  `--queue=${deadQueue}`,
  ...at(system),
  ...words,
];

/** A command that reads the declaration and names the consumer billing. */
export function byDeclaration(system: DeployedSystem, command: string, ...words: readonly string[]): string[] {
  const { broker, declaration, strategy } = system;
  const file = join(temporaryFolder("declared", onTestFinished), "shop.json");
  writeFileSync(file, JSON.stringify(declaration));
  const target = [`--target=rabbitmq@${broker.version}`, `--strategy=${strategy}`, "--consumer=billing"];
  return ["dead", command, file, ...target, ...at(system), ...words];
}

/** The answer of a command that gets the name of the dead queue. */
export const ask = async <Fields = Record<string, unknown>>(
  system: Where,
  command: string,
  ...words: readonly string[]
): Promise<Answer<Fields>> => answerOf(runCommand(byQueue(system, command, ...words)));

/** The answer of a command that gets the declaration. */
export const askDeclared = async <Fields = Record<string, unknown>>(
  system: DeployedSystem,
  command: string,
  ...words: readonly string[]
): Promise<Answer<Fields>> => answerOf(runCommand(byDeclaration(system, command, ...words)));
