import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "../../../consume/port/event.ts";
import { type Field, type Writing, queueFields } from "../compile/fields.ts";
import type { SqsQueue } from "./queue-urls.ts";

/** The attributes of a queue, under the names of the SQS API. */
export type FoundAttributes = Readonly<Record<string, string>>;

/** Compares a queue with the compiled one: reasons not to start, and attributes that could not be compared. */
export function compareQueue(
  queue: SqsQueue,
  found: FoundAttributes,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const notes: string[] = [];
  const events: ConsumeEvent[] = [];
  for (const [attribute, { of, compared, unsaid }] of Object.entries<Field<SqsQueue>>(queueFields)) {
    if (compared === undefined || (compared === "work" && queue.role !== "work")) continue;
    const value = of(queue, byName);
    const wanted = value === undefined ? unsaid : wordsOf(value);
    const text = found[attribute];
    const there = text === undefined ? unsaid : wordsOf(readText(text));
    if (there === undefined)
      events.push({ kind: "not-compared", what: `${attribute} of ${queue.name}`, because: "SQS does not say it" });
    else if (there !== wanted) notes.push(`${attribute}: compiled is ${wanted}, deployed is ${there}`);
  }
  if (notes.length === 0) return { problems: [], events };
  return {
    events,
    problems: diagnosed("RD808", {
      path: queue.name,
      message: `the attributes of the queue ${queue.name} differ from the compiled ones`,
      notes,
      help: "deploy again, or run the consumer from the declaration that is deployed; a change takes SQS up to a minute, of the retention 15",
    }),
  };
}

const itself = (value: unknown): unknown => value;
const byName: Writing = { queue: itself, topic: itself, source: itself, tags: itself, dimensions: itself };

/** An attribute is a text, and a policy is JSON in it. */
function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** SQS returns the count of a redrive policy as a number or as the text that set it. */
function wordsOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { deadLetterTargetArn, maxReceiveCount } = value as Readonly<Record<string, unknown>>;
  return `${String(deadLetterTargetArn).split(":").at(-1)} after ${String(maxReceiveCount)} receives`;
}
