import { plainData } from "../declare/plain-data.ts";
import { type Checked, type Diagnostic, accepted, diagnostic, refusedFor } from "../diagnostics/diagnostic.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { isEntry } from "../foreign/entries.ts";
import type { Broker } from "./broker.ts";
import type { RabbitmqTarget } from "./rabbitmq/compile/capabilities.ts";
import type { RabbitmqCompiled } from "./rabbitmq/compile/compile.ts";
import { rabbitmq } from "./rabbitmq/index.ts";
import type { RabbitmqConnection, RabbitmqCredentials } from "./rabbitmq/run/connection.ts";
import type { RabbitmqTargetInput } from "./rabbitmq/compile/target.ts";
import type { ServicebusTarget } from "./servicebus/compile/capabilities.ts";
import type { ServicebusCompiled } from "./servicebus/compile/compile.ts";
import { servicebus } from "./servicebus/index.ts";
import type { ServicebusConnection, ServicebusCredential } from "./servicebus/run/connection.ts";
import type { ServicebusTargetInput } from "./servicebus/compile/target.ts";
import type { SqsTarget } from "./sqs/compile/capabilities.ts";
import type { SqsCompiled } from "./sqs/compile/compile.ts";
import { sqs } from "./sqs/index.ts";
import type { SqsConnection, SqsCredentials } from "./sqs/run/connection.ts";
import type { SqsTargetInput } from "./sqs/compile/target.ts";

/**
 * All brokers. This is the only file that names them all. The bundled command line loads a broker when its getter is
 * used.
 */
export const brokers = Object.freeze({
  get rabbitmq() {
    return rabbitmq;
  },
  get sqs() {
    return sqs;
  },
  get servicebus() {
    return servicebus;
  },
});

/** A broker's name, with which its targets begin. */
export type BrokerName = keyof typeof brokers;

/** The broker when no target names one. */
export const defaultBroker = "rabbitmq" satisfies BrokerName;

/**
 * A broker to compile for, as a user writes it: `{ broker: "rabbitmq", version: "4.3" }`, `{ broker: "sqs", region:
 * "eu-west-1" }`.
 */
export type TargetInput<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqTargetInput | SqsTargetInput | ServicebusTargetInput,
  { readonly broker: Name }
>;
/** A target that has been checked. */
export type Target<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqTarget | SqsTarget | ServicebusTarget,
  { readonly broker: Name }
>;
/** A compiler's result for one of the brokers, or for any of them. */
export type CompiledSystem<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqCompiled | SqsCompiled | ServicebusCompiled,
  { readonly topology: { readonly broker: Name } }
>;

/** The connection options of one broker, or of any of them. */
export type ConnectionOf<Name extends BrokerName = BrokerName> = {
  readonly rabbitmq: RabbitmqConnection;
  readonly sqs: SqsConnection;
  readonly servicebus: ServicebusConnection;
}[Name];
export type {
  RabbitmqConnection,
  RabbitmqCredentials,
  ServicebusConnection,
  ServicebusCredential,
  SqsConnection,
  SqsCredentials,
};

type AnyBroker = Broker<Target, TargetInput, CompiledSystem, unknown, unknown, ConnectionOf>;

/**
 * The broker of a target, for code that does not know its type. A target and its compiled system always belong to one
 * broker. Types cannot express this if any broker is possible, hence the one cast.
 */
export function brokerOf({ broker }: { readonly broker: BrokerName }): AnyBroker {
  return brokers[broker] as unknown as AnyBroker;
}

/** Reads a target as on a command line, `rabbitmq@4.3`, with the strategy beside it. */
export function parseTarget<Name extends BrokerName>(
  text: `${Name}@${string}`,
  strategy?: string,
): Checked<Target<Name>>;
export function parseTarget(text: string, strategy?: string): Checked<Target>;
export function parseTarget(text: string, strategy?: string): Checked<Target> {
  // Callers without types may pass anything.
  if (typeof text !== "string") return noTarget(text);
  const at = text.indexOf("@");
  const [name, detail] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return isBrokerName(name) ? remembered(brokerOf({ broker: name }).parseTarget(detail, strategy)) : noTarget(text);
}

/** Targets that were checked here. Other data of the same form may be unchecked. */
const checkedTargets = new WeakSet<object>();

function remembered<Value extends Target>(checked: Checked<Value>): Checked<Value> {
  if (checked.ok) checkedTargets.add(checked.value);
  return checked;
}

/** Checks a target that was written as data. A checked target comes back at once. */
export function checkTarget<Name extends BrokerName>(input: TargetInput<Name> | Target<Name>): Checked<Target<Name>> {
  const isSure = typeof input === "object" && input !== null && checkedTargets.has(input);
  if (isSure) return accepted(input as Target<Name>);
  if (typeof input === "string") return { ok: false, diagnostics: [textInCode(input)] };
  const plain = plainData(input, ["target"]);
  if (!plain.ok) return plain;
  const target = plain.value;
  if (!isEntry(target)) return noTarget(target);
  if (!isBrokerName(target["broker"])) return noBroker(target["broker"]);
  const checked = brokerOf({ broker: target["broker"] }).checkTarget(target as unknown as Target);
  return remembered(checked) as Checked<Target<Name>>;
}

function isBrokerName(name: unknown): name is BrokerName {
  return typeof name === "string" && Object.hasOwn(brokers, name);
}

/** @param given the user's text, or another value in its place */
function noTarget(given: unknown): Checked<never> {
  const text = typeof given === "string" ? JSON.stringify(given) : given === undefined ? "nothing" : "this";
  const likely = typeof given === "string" ? likelyTarget(given) : undefined;
  return refusedFor("RD201", {
    path: "target",
    message: `${text} is no target`,
    notes: [`a target is a broker and its version, region or tier; the brokers are ${Object.keys(brokers).join(", ")}`],
    help:
      likely === undefined ? "write for example rabbitmq@4.3, sqs@eu-west-1 or servicebus@standard" : `write ${likely}`,
  });
}

function noBroker(given: unknown): Checked<never> {
  const names = Object.keys(brokers);
  const message = given === undefined ? "the target names no broker" : `${JSON.stringify(given)} is no broker`;
  const likely = names.find((name) => name === nearestWord(given, names));
  const help = `write broker: "${likely ?? names.join('", "')}"`.replaceAll(", ", " or ");
  return refusedFor("RD201", { path: "target.broker", message, value: given, help });
}

/** The target in a text with another separator or name, or without one: `4.3`, `RabbitMQ:4.3`, `aws@eu-west-1`. */
function likelyTarget(text: string): string | undefined {
  const details = [text, text.slice(text.search(/[@:= ]/) + 1), text.slice(text.indexOf("-") + 1)];
  const names = Object.keys(brokers) as BrokerName[];
  return details
    .flatMap((detail) => names.map((broker) => ({ broker, detail: detail.trim().toLowerCase() })))
    .filter(({ broker, detail }) => brokerOf({ broker }).parseTarget(detail).ok)
    .map(({ broker, detail }) => `${broker}@${detail}`)[0];
}

/** In code a target is a mapping, because it may have more settings than a word. */
function textInCode(text: string): Diagnostic {
  const right = isBrokerName(text) ? brokers[text].exampleTarget : (likelyTarget(text) ?? text);
  const checked = parseTarget(right);
  if (!checked.ok) return checked.diagnostics[0] as Diagnostic;
  const { broker } = checked.value;
  const [detail = ""] = Object.keys(brokers[broker].stack.target);
  const written = `{ broker: "${broker}", ${detail}: "${right.slice(right.indexOf("@") + 1)}" }`;
  return diagnostic("RD201", {
    path: "target",
    message: "a target in code is a mapping, and this text is the form for the command line",
    value: text,
    help: `write target: ${written}`,
  });
}
