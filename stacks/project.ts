import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";

import { loadLock, lockFileOf } from "../src/cli/lock-file.ts";
import { checkTargetData } from "../src/cli/load-target.ts";
import { endedWaivers, readProject, todayUtc } from "../src/cli/project.ts";
import { projectFiles } from "../src/cli/project-files.ts";
import { keepStrategies } from "../src/migrate/keep-strategies.ts";
import { gateBehind } from "../src/migrate/gate.ts";
import { goingIn, lockedIn } from "../src/migrate/lock.ts";
import { nameOfSystem } from "../src/plan/plan.ts";
import { brokers, checkSystem, renderDiagnostics } from "../src/index.ts";
import type { BrokerName, Checked, System, SystemInput } from "../src/index.ts";

/** The declaration to deploy, and the name of its component. A renamed system keeps that, and so its resources. */
export interface Deployable {
  readonly name: string;
  readonly system: System | SystemInput;
  readonly owner?: string;
}

/** The content of a project file for one stack. */
export interface FromProject {
  readonly deployable: Deployable;
  /** The target of the environment with the stack's name. Undefined if there is none. */
  readonly target: unknown;
}

/**
 * Reads the project file beside `Pulumi.yaml`, or the one in REDELIVER_PROJECT. The environment with the stack's name
 * counts.
 *
 * @returns null if there is no project file
 * @throws pulumi.RunError if it is refused
 */
export async function fromProject(stack: string): Promise<FromProject | null> {
  const inRoot = projectFiles.map((name) => fileURLToPath(new URL(`../${name}`, import.meta.url)));
  const file = process.env["REDELIVER_PROJECT"] ?? inRoot.find((each) => existsSync(each));
  if (file === undefined) return null;
  const read = readProject(file);
  const problems = read.ok ? endedWaivers(read.value, todayUtc()) : read.diagnostics;
  if (!read.ok || problems.length > 0)
    throw new pulumi.RunError(`The project file is refused\n${renderDiagnostics(problems)}`);
  const { declaration, environments } = read.value;
  const step = presentStep(file, stack);
  if (step !== null) return step;
  const declared = (await declarationIn(declaration)) as SystemInput;
  const { target: given, names } = new Map(Object.entries(environments)).get(stack) ?? {};
  const system = names === undefined ? declared : { ...declared, names: { ...declared.names, ...names } };
  const target = typeof given === "string" ? asData(given) : given;
  return { deployable: { name: nameOfSystem(system), system }, target: keptIn(file, stack, system, target) };
}

/** `auto` keeps the strategies that the lock has. The component checks the declaration and the target. */
function keptIn(file: string, stack: string, declared: SystemInput, given: unknown): unknown {
  const lock = loadLock(lockFileOf(file));
  const [system, target] = [checkSystem(declared), checkTargetData(given)];
  if (lock?.ok !== true || !system.ok || !target.ok || lock.value.system !== nameOfSystem(system.value)) return given;
  const deployed = orThrow(lockedIn(lock.value, stack, nameOfSystem(system.value)));
  const { value } = deployed === null ? target : keepStrategies(deployed, system.value, target.value);
  const { strategies } = value;
  return strategies === undefined ? given : { ...(given as object), strategies };
}

/** @throws pulumi.RunError */
function orThrow<Value>(read: Checked<Value>): Value {
  if (read.ok) return read.value;
  throw new pulumi.RunError(`The lock file is refused\n${renderDiagnostics(read.diagnostics)}`);
}

/** The present step of a migration. Until it ends, the lock says what to deploy, and not the declaration. */
function presentStep(file: string, stack: string): FromProject | null {
  const read = loadLock(lockFileOf(file));
  const lock = read === null ? null : orThrow(read);
  const going = lock === null ? null : orThrow(goingIn(lock, stack));
  const step = going?.steps[going.phase];
  if (lock === null || going === null || step === undefined) return null;
  const from = orThrow(lockedIn(lock, stack, lock.system));
  const { drained = [] } = (from === null ? null : gateBehind(from, going.steps, going.phase, 0)) ?? {};
  const waits = drained.length === 0 ? "" : ` It ends when these queues are empty: ${drained.join(", ")}.`;
  void pulumi.log.info(
    `This is step ${going.phase + 1} of ${going.steps.length} of a migration.${waits} Go on by: redeliver migrate --env ${stack} --next${going.back === true ? " --back" : ""}`,
  );
  const { system, target } = step;
  const own = asData(brokers[target.broker].formatTarget(target as never)) as object;
  const { strategy, strategies = {} } = target;
  return { deployable: { name: nameOfSystem(system), system }, target: { ...own, strategy, strategies } };
}

/** The component checks the declaration. */
async function declarationIn(file: string): Promise<unknown> {
  if ([".yaml", ".yml", ".json"].includes(extname(file).toLowerCase())) return parse(readFileSync(file, "utf8"));
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  return module.default;
}

/** A target as on the command line, `rabbitmq@4.3`, in the form of a stack's configuration. */
function asData(text: string): unknown {
  const [broker = "", detail] = text.split("@");
  if (!Object.hasOwn(brokers, broker)) return text;
  const [key = ""] = Object.keys(brokers[broker as BrokerName].stack.target);
  return { broker, [key]: detail };
}
