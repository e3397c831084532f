import * as sqs from "@aws-sdk/client-sqs";

import type { WholeMoves } from "../../../operate/port.ts";
import { errorName } from "../run/client.ts";
import { type DeadQueue, bounded } from "./queue.ts";

/** SQS moves at most so many a second. Source: API Reference, StartMessageMoveTask. */
const mostPerSecond = 500;

/**
 * Moves of whole queues by SQS itself.
 *
 * @param opened finds a queue, and refuses one that is no dead queue
 * @param urlOf finds the URL of a work queue; null if there is none
 */
export function wholeMovesOf(
  opened: (queue: string) => Promise<DeadQueue>,
  urlOf: (queue: string) => Promise<string | null>,
): WholeMoves {
  const arnOf = async ({ client }: DeadQueue, QueueUrl: string): Promise<string> => {
    const command = new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
    return (await client.send(command, bounded())).Attributes?.["QueueArn"] ?? "";
  };
  const latest = async (queue: DeadQueue): Promise<sqs.ListMessageMoveTasksResultEntry | undefined> => {
    const SourceArn = await arnOf(queue, queue.url);
    return (await queue.client.send(new sqs.ListMessageMoveTasksCommand({ SourceArn }), bounded())).Results?.[0];
  };
  return {
    start: async (name, target, perSecond) => {
      if (perSecond !== null && perSecond > mostPerSecond) return `SQS moves at most ${mostPerSecond} letters a second`;
      const queue = await opened(name);
      const url = target === null ? null : await urlOf(target);
      if (target !== null && url === null) return `the queue ${target} is gone`;
      const request = {
        SourceArn: await arnOf(queue, queue.url),
        ...(url === null ? {} : { DestinationArn: await arnOf(queue, url) }),
        ...(perSecond === null ? {} : { MaxNumberOfMessagesPerSecond: perSecond }),
      };
      return queue.client.send(new sqs.StartMessageMoveTaskCommand(request), bounded()).then(() => null, refusalOf);
    },
    latest: async (name) => {
      const queue = await opened(name);
      const task = await latest(queue).catch((cause: unknown) => void refusalOf(cause));
      if (task === undefined) return null;
      const { Status: status = "", ApproximateNumberOfMessagesMoved: moved = 0, FailureReason: reason } = task;
      const failed = status === "FAILED" ? (reason ?? "SQS gives no reason") : null;
      return {
        isRunning: status === "RUNNING" || status === "CANCELLING",
        moved,
        problem: status === "CANCELLED" ? "it was cancelled" : failed,
      };
    },
    cancel: async (name) => {
      const queue = await opened(name);
      const TaskHandle = (await latest(queue))?.TaskHandle;
      if (TaskHandle === undefined) return false;
      await queue.client.send(new sqs.CancelMessageMoveTaskCommand({ TaskHandle }), bounded());
      return true;
    },
  };
}

/** @throws any error that is no refusal */
function refusalOf(cause: unknown): string {
  const name = errorName(cause);
  // An emulator may answer an unknown request with a text that is not JSON.
  const isUnknown = /InvalidAction|UnknownOperation|NotImplemented|UnsupportedOperation|SyntaxError/.test(name);
  if (!isUnknown && (cause as { readonly $fault?: string }).$fault !== "client") throw cause;
  return isUnknown ? `the endpoint has no move tasks (${name})` : `SQS refuses the move: ${name}`;
}
