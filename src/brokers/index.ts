import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { Broker } from "./broker.ts";
import type { RabbitmqTarget } from "./rabbitmq/capabilities.ts";
import type { RabbitmqCompiled } from "./rabbitmq/compile.ts";
import { rabbitmq } from "./rabbitmq/index.ts";
import type { RabbitmqTargetInput } from "./rabbitmq/target.ts";
import type { ServicebusTarget } from "./servicebus/capabilities.ts";
import type { ServicebusCompiled } from "./servicebus/compile.ts";
import { servicebus } from "./servicebus/index.ts";
import type { ServicebusTargetInput } from "./servicebus/target.ts";
import type { SqsTarget } from "./sqs/capabilities.ts";
import type { SqsCompiled } from "./sqs/compile.ts";
import { sqs } from "./sqs/index.ts";
import type { SqsTargetInput } from "./sqs/target.ts";

/** Every broker there is. This is the only file that names them all. */
export const brokers = Object.freeze({ rabbitmq, sqs, servicebus });

/** A broker's name, as a target begins with it. */
export type BrokerName = keyof typeof brokers;

/** The broker that is meant where no target names one. */
export const defaultBroker = "rabbitmq" satisfies BrokerName;

/** A broker to compile for, as a person writes it: `{ broker: "rabbitmq", version: "4.3" }`, `{ broker: "sqs", region: "eu-west-1" }`. */
export type TargetInput<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqTargetInput | SqsTargetInput | ServicebusTargetInput,
  { readonly broker: Name }
>;
/** A target that has been checked. */
export type Target<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqTarget | SqsTarget | ServicebusTarget,
  { readonly broker: Name }
>;
/** What a compiler returns for one of the brokers, or for any of them. */
export type CompiledSystem<Name extends BrokerName = BrokerName> = Extract<
  RabbitmqCompiled | SqsCompiled | ServicebusCompiled,
  { readonly topology: { readonly broker: Name } }
>;

type AnyBroker = Broker<Target, TargetInput, CompiledSystem, unknown, unknown>;

/**
 * The broker of a target, for code that knows none of them. That a target and what was compiled for it belong to the broker that is
 * asked about them cannot be said in types where all three may be of any broker, hence the one cast.
 */
export function brokerOf({ broker }: { readonly broker: BrokerName }): AnyBroker {
  return brokers[broker] as unknown as AnyBroker;
}

/** Reads a target as it is written on a command line, `rabbitmq@4.3`, with the strategy beside it. */
export function parseTarget<Name extends BrokerName>(
  text: `${Name}@${string}`,
  strategy?: string,
): Checked<Target<Name>>;
export function parseTarget(text: string, strategy?: string): Checked<Target>;
export function parseTarget(text: string, strategy?: string): Checked<Target> {
  const at = text.indexOf("@");
  const [name, detail] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return isBrokerName(name) ? brokerOf({ broker: name }).parseTarget(detail, strategy) : noTarget(text);
}

/** Checks a target that was written as data, or was checked before. */
export function checkTarget<Name extends BrokerName>(input: TargetInput<Name> | Target<Name>): Checked<Target<Name>> {
  const { broker } = input;
  return isBrokerName(broker) ? (brokerOf({ broker }).checkTarget(input) as Checked<Target<Name>>) : noTarget(broker);
}

function isBrokerName(name: string): name is BrokerName {
  return Object.hasOwn(brokers, name);
}

function noTarget(text: string): Checked<never> {
  return {
    ok: false,
    diagnostics: [
      diagnostic("RD201", {
        path: "target",
        message: `${JSON.stringify(text)} is no target`,
        notes: [
          `a target is a broker and its version, region or tier; the brokers are ${Object.keys(brokers).join(", ")}`,
        ],
        help: "write for example rabbitmq@4.3, sqs@eu-west-1 or servicebus@standard",
      }),
    ],
  };
}
