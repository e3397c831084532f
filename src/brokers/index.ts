import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { RabbitmqTarget } from "./rabbitmq/capabilities.ts";
import type { RabbitmqCompiled } from "./rabbitmq/compile.ts";
import { rabbitmq } from "./rabbitmq/index.ts";
import type { RabbitmqTargetInput } from "./rabbitmq/target.ts";

/** Every broker there is. This is the only file that names them all. */
export const brokers = Object.freeze({ rabbitmq });

/** The broker that is meant where no target names one. */
export const defaultBroker = "rabbitmq" satisfies keyof typeof brokers;

/** A broker to compile for, as a person writes it: `{ broker: "rabbitmq", version: "4.3" }`. */
export type TargetInput = RabbitmqTargetInput;
/** A target that has been checked. */
export type Target = RabbitmqTarget;
/** What a compiler returns for any of the brokers. */
export type CompiledSystem = RabbitmqCompiled;

/** Reads a target as it is written on a command line, `rabbitmq@4.3`, with the strategy beside it. */
export function parseTarget(text: string, strategy?: string): Checked<Target> {
  const at = text.indexOf("@");
  const [name, version] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  if (!Object.hasOwn(brokers, name)) {
    return {
      ok: false,
      diagnostics: [
        diagnostic("RD201", {
          path: "target",
          message: `${JSON.stringify(text)} is no target`,
          notes: [`a target is a broker and its version; the brokers are ${Object.keys(brokers).join(", ")}`],
          help: "write for example rabbitmq@4.3",
        }),
      ],
    };
  }
  return brokers[name as keyof typeof brokers].parseTarget(version, strategy);
}

/** Checks a target that was written as data. */
export function checkTarget(input: TargetInput): Checked<Target> {
  return parseTarget(`${input.broker}@${input.version}`, input.strategy);
}
