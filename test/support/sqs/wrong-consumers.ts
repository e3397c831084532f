import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import type { Ended } from "./keeps-contract.ts";

/** What a consumer does that somebody wrote by hand, once right and then with one mistake each. */
interface Ways {
  readonly receive: { readonly count: boolean; readonly attributes: boolean; readonly most: number };
  readonly transient: "wait" | "delete" | "at once" | "too long";
  readonly permanent: "copy, then delete" | "delete, then copy" | "both at once" | "delete" | "wait";
  readonly copy: "whole" | "without attributes" | "without reason" | "to the work queue";
  readonly success: "delete" | "nothing" | "twice";
}

const right: Ways = {
  receive: { count: true, attributes: true, most: 10 },
  transient: "wait",
  permanent: "copy, then delete",
  copy: "whole",
  success: "delete",
};

/** By the name of the mistake. */
export const handWritten: Readonly<Record<string, Ways>> = {
  "none at all": right,
  "the receive count is not asked for": { ...right, receive: { ...right.receive, count: false } },
  "attributes are not asked for": { ...right, receive: { ...right.receive, attributes: false } },
  "a failed message is deleted": { ...right, transient: "delete" },
  "a failed message is visible at once": { ...right, transient: "at once" },
  "a failed message is hidden for too long": { ...right, transient: "too long" },
  "a message is deleted before it is copied": { ...right, permanent: "delete, then copy" },
  "nobody waits for the copy": { ...right, permanent: "both at once" },
  "a permanent failure is deleted": { ...right, permanent: "delete" },
  "a permanent failure is tried again": { ...right, permanent: "wait" },
  "a copy has none of the attributes": { ...right, copy: "without attributes" },
  "a copy has no reason": { ...right, copy: "without reason" },
  "a copy goes to the wrong queue": { ...right, copy: "to the work queue" },
  "a message that is done is left": { ...right, success: "nothing" },
  "a message that is done is deleted twice": { ...right, success: "twice" },
};

export interface Place {
  readonly sqs: SQSClient;
  readonly work: string;
  readonly dead: string;
  /** Seconds after each attempt. */
  readonly delays: readonly number[];
}

/** Receives once, and handles what comes. */
export async function handleOnce(place: Place, ways: Ways, ended: Ended): Promise<void> {
  const { sqs, work } = place;
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: work,
      MaxNumberOfMessages: ways.receive.most,
      WaitTimeSeconds: 1,
      ...(ways.receive.count ? { MessageSystemAttributeNames: ["ApproximateReceiveCount"] } : {}),
      ...(ways.receive.attributes ? { MessageAttributeNames: ["All"] } : {}),
    }),
  );
  for (const message of Messages) {
    const attempt = Number(message.Attributes?.ApproximateReceiveCount ?? 1);
    await end(place, ways, message, attempt, ended(message.Body ?? "", attempt));
  }
}

async function end(
  { sqs, work, dead, delays }: Place,
  ways: Ways,
  message: Message,
  attempt: number,
  outcome: ReturnType<Ended>,
): Promise<void> {
  const receipt = { QueueUrl: work, ReceiptHandle: message.ReceiptHandle };
  const remove = () => sqs.send(new DeleteMessageCommand(receipt));
  const hide = (seconds: number) =>
    sqs.send(new ChangeMessageVisibilityCommand({ ...receipt, VisibilityTimeout: seconds }));
  const copy = () =>
    sqs.send(
      new SendMessageCommand({
        QueueUrl: ways.copy === "to the work queue" ? work : dead,
        MessageBody: message.Body,
        MessageAttributes: {
          ...(ways.copy === "without attributes" ? {} : message.MessageAttributes),
          "dlq-original-queue": { DataType: "String", StringValue: work },
          ...(ways.copy === "without reason"
            ? {}
            : { "dlq-failure-reason": { DataType: "String", StringValue: "PERMANENT_FAILURE" } }),
        },
      }),
    );
  const delay = delays[attempt - 1] ?? 0;
  const steps: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
    wait: [() => hide(delay)],
    delete: [remove],
    "at once": [() => hide(0)],
    "too long": [() => hide(delay + 1)],
    "copy, then delete": [copy, remove],
    "delete, then copy": [remove, copy],
    "both at once": [() => Promise.all([copy(), remove()])],
    nothing: [],
    twice: [remove, remove],
  };
  const way = outcome === "success" ? ways.success : outcome === "permanent" ? ways.permanent : ways.transient;
  // SQS may refuse what is a mistake; the call was made all the same.
  for (const step of steps[way] ?? []) await step().catch(() => undefined);
}
