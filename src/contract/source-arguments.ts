import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";

/**
 * Refuses arguments of sources that are not compared.
 *
 * @param broker the broker's name for a sentence. Null if its exchanges have arguments
 */
export function refuseSourceArguments(sources: Plan["sources"], broker: string | null): Diagnostic[] {
  const [message, help] =
    broker === null
      ? ["only an exchange that somebody else made has declared arguments", 'add owner: "other" and its name']
      : [`sources on ${broker} have no arguments`, "use RabbitMQ"];
  return Object.entries(sources).flatMap(([source, { owner, arguments: value }]) =>
    value === undefined || (owner === "other" && broker === null)
      ? []
      : diagnosed("RD222", {
          path: ["sources", source, "arguments"],
          message,
          value,
          notes: ["they are compared with those of the exchange, and never written"],
          help: `leave arguments out, or ${help}`,
        }),
  );
}
