import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "../event.ts";
import type { SqsQueue } from "./queue-urls.ts";

/** What SQS says of a queue, by the names of its API. */
export type FoundAttributes = Readonly<Record<string, string>>;

interface Compared {
  readonly attribute: string;
  readonly wanted: string;
  /** What SQS says, in the words of `wanted`. */
  readonly read: (text: string) => string;
  /** What it is where SQS says nothing of it; null where SQS always does, so that its silence says nothing. */
  readonly absent: string | null;
}

/** Compares a queue with what was compiled: a reason not to begin, or what could not be compared. */
export function compareQueue(
  queue: SqsQueue,
  found: FoundAttributes,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const notes: string[] = [];
  const events: ConsumeEvent[] = [];
  for (const { attribute, wanted, read, absent } of comparedOf(queue)) {
    const text = found[attribute];
    const there = text === undefined ? absent : read(text);
    if (there === null)
      events.push({ kind: "not-compared", what: `${attribute} of ${queue.name}`, because: "SQS does not say it" });
    else if (there !== wanted) notes.push(`${attribute}: compiled is ${wanted}, deployed is ${there}`);
  }
  if (notes.length === 0) return { problems: [], events };
  return {
    events,
    problems: [
      diagnostic("RD808", {
        path: queue.name,
        message: `the attributes of the queue ${queue.name} differ from what was compiled`,
        notes,
        help: "deploy again, or run the consumer from the declaration that is deployed; a change takes SQS up to a minute, of the retention 15",
      }),
    ],
  };
}

const asItIs = (text: string): string => text;

function comparedOf(queue: SqsQueue): readonly Compared[] {
  const seconds = (attribute: string, wanted: number): Compared => ({
    attribute,
    wanted: String(wanted),
    read: asItIs,
    absent: null,
  });
  const { redrive } = queue;
  return [
    { attribute: "FifoQueue", wanted: String(queue.fifo), read: asItIs, absent: "false" },
    seconds("MessageRetentionPeriod", queue.retentionSeconds),
    {
      attribute: "RedrivePolicy",
      wanted: redrive === null ? "none" : redriveText(redrive.deadQueue, redrive.maxReceiveCount),
      read: readRedrive,
      absent: "none",
    },
    // Nobody receives from a dead queue by the contract, so how long a receive hides its messages is its owner's business.
    ...(queue.role === "work"
      ? [seconds("VisibilityTimeout", queue.visibilityTimeoutSeconds), seconds("DelaySeconds", queue.delaySeconds)]
      : []),
  ];
}

function redriveText(deadQueue: string, maxReceiveCount: unknown): string {
  return `${deadQueue} after ${String(maxReceiveCount)} receives`;
}

/** SQS gives the count as a number or as the text that it was set with. */
function readRedrive(text: string): string {
  try {
    const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const arn = String(deadLetterTargetArn);
    return redriveText(arn.slice(arn.lastIndexOf(":") + 1), maxReceiveCount);
  } catch {
    return text;
  }
}
