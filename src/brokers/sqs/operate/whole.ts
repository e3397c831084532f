import * as sqs from "@aws-sdk/client-sqs";

import type { WholeMoves } from "../../../operate/port.ts";
import { errorName } from "../run/client.ts";
import { type DeadQueue, bounded } from "./queue.ts";

/** SQS moves at most so many a second. Source: API Reference, StartMessageMoveTask. */
const mostPerSecond = 500;
/** A move that SQS does not list after this time has no answer any more. */
const listedWithinMs = 60_000;

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
  const known = (queue: DeadQueue) => latest(queue).catch((cause: unknown) => void refusalOf(cause));
  /** The moves that this process has begun: the begin of the move before, and the time by which SQS lists the new one. */
  const begun = new Map<string, { readonly before: number | undefined; readonly untilMs: number }>();
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
      const before = beginOf(await known(queue));
      const sent = queue.client.send(new sqs.StartMessageMoveTaskCommand(request), bounded());
      const refusal = await sent.then(() => null, refusalOf);
      if (refusal === null) begun.set(name, { before, untilMs: performance.now() + listedWithinMs });
      return refusal;
    },
    latest: async (name) => {
      const queue = await opened(name);
      const task = await known(queue);
      const own = begun.get(name);
      // SQS may list a move later than it begins.
      if (own !== undefined && beginOf(task) === own.before)
        return performance.now() < own.untilMs ? { isRunning: true, moved: 0, problem: null } : null;
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

/** The only fact that names a move which has ended: SQS gives the handle of running ones alone. */
const beginOf = (task: sqs.ListMessageMoveTasksResultEntry | undefined): number | undefined => task?.StartedTimestamp;

/** @throws any error that is no refusal */
function refusalOf(cause: unknown): string {
  const name = errorName(cause);
  // An emulator may answer an unknown request with a text that is not JSON.
  const isUnknown = /InvalidAction|UnknownOperation|NotImplemented|UnsupportedOperation|SyntaxError/.test(name);
  if (!isUnknown && (cause as { readonly $fault?: string }).$fault !== "client") throw cause;
  return isUnknown ? `the endpoint has no move tasks (${name})` : `SQS refuses the move: ${name}`;
}
