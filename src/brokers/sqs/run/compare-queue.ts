import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "../../../consume/port/event.ts";
import { compareAttributes } from "../compile/differences.ts";
import { type Field, queueFields } from "../compile/fields.ts";
import type { SqsQueue } from "./queue-urls.ts";

/** The attributes of a queue, under the names of the SQS API. */
export type FoundAttributes = Readonly<Record<string, string>>;

/** Compares a queue with the compiled one: reasons not to start, and attributes that could not be compared. */
export function compareQueue(
  queue: SqsQueue,
  found: FoundAttributes,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const compared = Object.entries<Field<SqsQueue>>(queueFields).filter(
    ([, field]) => field.compared === "all" || (field.compared === "work" && queue.role === "work"),
  );
  const place = found["QueueArn"]?.split(":").slice(3, 5).join(":") ?? "";
  const { settings, unsaid } = compareAttributes(Object.fromEntries(compared), queue, found, place);
  const events = unsaid.map((attribute): ConsumeEvent => ({
    kind: "not-compared",
    what: `${attribute} of ${queue.name}`,
    because: "SQS does not say it",
  }));
  if (settings.length === 0) return { problems: [], events };
  return {
    events,
    problems: diagnosed("RD808", {
      path: queue.name,
      message: `the attributes of the queue ${queue.name} differ from the compiled ones`,
      notes: settings.map(
        ({ key, declared, deployed }) => `${key}: compiled is ${wordsOf(declared)}, deployed is ${wordsOf(deployed)}`,
      ),
      help: "deploy again, or run the consumer from the declaration that is deployed; a change takes SQS up to a minute, of the retention 15",
    }),
  };
}

function wordsOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { deadLetterTargetArn, maxReceiveCount } = value as Readonly<Record<string, unknown>>;
  return `${String(deadLetterTargetArn)} after ${String(maxReceiveCount)} receives`;
}
