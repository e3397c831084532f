import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

import { deadQueue } from "./dead-stage.ts";
import type { DeployedSystem } from "./deployed-system.ts";
import type { Broker } from "./live.ts";
import type { Said } from "./run-command.ts";
import { temporaryFolder } from "./temporary-folder.ts";

type Where = Pick<DeployedSystem, "url">;

/** The words that name a broker. */
export const at = ({ managementUrl }: Broker, { url }: Where): string[] => [
  `--url=${url}`,
  `--management-url=${managementUrl}`,
  "--json",
];

/** A command that names the dead queue. */
export const byQueue = (broker: Broker, system: Where, command: string, ...words: readonly string[]): string[] => [
  "dead",
  command,
  `--queue=${deadQueue}`,
  ...at(broker, system),
  ...words,
];

/** A command that reads a declaration and names the consumer billing. */
export function byDeclaration(
  broker: Broker,
  system: Where,
  command: string,
  declaration: object,
  strategy = "waits",
): string[] {
  const folder = temporaryFolder("declared", onTestFinished);
  const file = join(folder, "shop.json");
  writeFileSync(file, JSON.stringify(declaration));
  const target = [`--target=rabbitmq@${broker.version}`, `--strategy=${strategy}`, "--consumer=billing"];
  return ["dead", command, file, ...target, ...at(broker, system)];
}

export const answerOf = <Answer = Record<string, unknown>>({ out }: Said): Answer => JSON.parse(out) as Answer;
