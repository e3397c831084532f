import {
  CancelMessageMoveTaskCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksResultEntry,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";

import type { WholeMove, WholeMoves } from "../../../operate/port.ts";
import { errorName } from "../run/client.ts";
import { type DeadQueue, bounded } from "./queue.ts";

/** SQS moves at most so many a second. Source: API Reference, StartMessageMoveTask. */
const mostPerSecond = 500;

/**
 * Moves of whole queues by SQS itself. They go on without Redeliver.
 *
 * @param opened finds a queue, and refuses one that is no dead queue
 * @param urlOf finds the URL of a work queue; null if there is none
 */
export function wholeMovesOf(
  opened: (queue: string) => Promise<DeadQueue>,
  urlOf: (queue: string) => Promise<string | null>,
): WholeMoves {
  const arnOf = async ({ client }: DeadQueue, url: string): Promise<string> => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] });
    return (await client.send(command, bounded())).Attributes?.["QueueArn"] ?? "";
  };
  const latest = async (queue: DeadQueue): Promise<ListMessageMoveTasksResultEntry | null> => {
    const SourceArn = await arnOf(queue, queue.url);
    const { Results = [] } = await queue.client.send(new ListMessageMoveTasksCommand({ SourceArn }), bounded());
    return Results[0] ?? null;
  };
  return {
    start: async (name, target, perSecond) => {
      if (perSecond !== null && perSecond > mostPerSecond) return `SQS moves at most ${mostPerSecond} letters a second`;
      const queue = await opened(name);
      const url = target === null ? null : await urlOf(target);
      if (target !== null && url === null) return `the queue ${target} is gone`;
      try {
        await queue.client.send(
          new StartMessageMoveTaskCommand({
            SourceArn: await arnOf(queue, queue.url),
            ...(url === null ? {} : { DestinationArn: await arnOf(queue, url) }),
            ...(perSecond === null ? {} : { MaxNumberOfMessagesPerSecond: perSecond }),
          }),
          bounded(),
        );
        return null;
      } catch (cause) {
        return refusalOf(cause);
      }
    },
    latest: async (name) => {
      try {
        const task = await latest(await opened(name));
        return task === null ? null : readTask(task);
      } catch (cause) {
        const problem = refusalOf(cause);
        return { isRunning: false, moved: 0, toMove: null, problem };
      }
    },
    cancel: async (name) => {
      const queue = await opened(name);
      const TaskHandle = (await latest(queue))?.TaskHandle;
      if (TaskHandle === undefined) return false;
      await queue.client.send(new CancelMessageMoveTaskCommand({ TaskHandle }), bounded());
      return true;
    },
  };
}

function readTask(task: ListMessageMoveTasksResultEntry): WholeMove {
  const { Status: status = "", FailureReason: reason } = task;
  return {
    isRunning: status === "RUNNING" || status === "CANCELLING",
    moved: task.ApproximateNumberOfMessagesMoved ?? 0,
    toMove: task.ApproximateNumberOfMessagesToMove ?? null,
    problem:
      status === "FAILED" ? (reason ?? "SQS gives no reason") : status === "CANCELLED" ? "it was cancelled" : null,
  };
}

/** @throws any other error */
function refusalOf(cause: unknown): string {
  const name = errorName(cause);
  // An emulator may answer an unknown request with a text that is not JSON.
  const isUnknown = /InvalidAction|UnknownOperation|NotImplemented|UnsupportedOperation|SyntaxError/.test(name);
  if (!isUnknown && (cause as { readonly $fault?: string }).$fault !== "client") throw cause;
  const text = (cause as Error).message;
  return isUnknown ? `the endpoint has no move tasks (${name})` : `SQS refuses the move: ${name}: ${text}`;
}
