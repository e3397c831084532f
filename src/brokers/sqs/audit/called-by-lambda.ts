import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { AuditedQueue, LambdaMapping } from "../deployment.ts";
import type { Surroundings } from "./surroundings.ts";

/** The least receives that AWS asks for. Source: Lambda Developer Guide, "Using Lambda with Amazon SQS", configuring a queue. */
const leastReceives = 5;

/** How many times the function's timeout a message has to stay hidden. Source: the same. */
const timesTimeout = 6;

/** What does not fit between a queue and the functions that are called with its messages. */
export function calledBadly(queue: AuditedQueue, { mappingsOf }: Surroundings): Finding[] {
  return mappingsOf(queue).flatMap((mapping) => [
    ...hiddenTooShort(queue, mapping),
    ...fewReceives(queue, mapping),
    ...wholeBatches(queue, mapping),
    ...filtered(queue, mapping),
  ]);
}

function hiddenTooShort(queue: AuditedQueue, mapping: LambdaMapping): Finding[] {
  const { visibilityTimeoutSeconds: hidden, name } = queue;
  const { timeoutSeconds: timeout, functionName, batchWindowSeconds } = mapping;
  if (hidden === null || timeout === null) return [];
  const wanted = timesTimeout * timeout + (batchWindowSeconds ?? 0);
  if (hidden >= wanted) return [];
  const window = (batchWindowSeconds ?? 0) === 0 ? "" : `, and the ${batchWindowSeconds} s of its batch window`;
  const predicate = `hides a message for ${hidden} s, and the function ${nameText(functionName)} may run for ${timeout} s`;
  const notes = hidden === 30 ? ["30 s is what a queue has where nobody sets it"] : [];
  const help = `set the visibility timeout to ${wanted} s: ${timesTimeout} times the timeout of the function${window}`;
  return hidden < timeout
    ? [
        {
          code: "RD450",
          queue: name,
          predicate,
          notes: [
            ...notes,
            "the message is received again while the function is still at work on it, and loses its receives",
          ],
          help,
        },
      ]
    : [
        {
          code: "RD451",
          queue: name,
          predicate,
          notes: [
            ...notes,
            `AWS asks for ${wanted} s: Lambda tries again within the visibility timeout when a call is throttled, and gives up when it is over`,
          ],
          help,
        },
      ];
}

function fewReceives({ name, redrive }: AuditedQueue, { functionName }: LambdaMapping): Finding[] {
  if (redrive === "untold" || redrive === null) return [];
  const { maxReceiveCount } = redrive;
  // A single receive is told for itself.
  if (maxReceiveCount === null || maxReceiveCount >= leastReceives || maxReceiveCount === 1) return [];
  return [
    {
      code: "RD447",
      queue: name,
      predicate: `gives up a message after ${maxReceiveCount} receives, and the function ${nameText(functionName)} is called with it`,
      notes: [`AWS asks for ${leastReceives}: a throttled call costs a receive, and no handler has run`],
      help: `raise maxReceiveCount to ${leastReceives}, and limit calls by the maximum concurrency of the mapping`,
    },
  ];
}

function wholeBatches(
  { name }: AuditedQueue,
  { functionName, batchSize, reportsItemFailures }: LambdaMapping,
): Finding[] {
  if (reportsItemFailures !== false || batchSize === null || batchSize <= 1) return [];
  return [
    {
      code: "RD462",
      queue: name,
      predicate: `is handed to the function ${nameText(functionName)} in batches of ${batchSize} that fail as a whole`,
      notes: [
        "one message that fails brings back all of its batch, those that were handled too, and each loses a receive",
      ],
      help: "set FunctionResponseTypes to ReportBatchItemFailures, and let the function answer with the messages that failed",
    },
  ];
}

function filtered({ name }: AuditedQueue, { functionName, hasFilters }: LambdaMapping): Finding[] {
  if (hasFilters !== true) return [];
  return [
    {
      code: "RD463",
      queue: name,
      predicate: `is handed to the function ${nameText(functionName)} through filters`,
      notes: ["Lambda deletes a message that meets none of them: it reaches no function and no dead-letter queue"],
      help: "filter before the queue, in the subscription of the topic; or let the function pass over what it does not want",
    },
  ];
}
