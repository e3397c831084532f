import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import type { CompiledSystem } from "../../../src/index.ts";
import { type Decision, operationsFor } from "../decide.ts";
import type { Queue } from "./lab.ts";

export type SqsContract = CompiledSystem<"sqs">["contracts"][number];
type Operation = NonNullable<SqsContract["retryAfter"]>[number]["byAttempt"][number][number];

/** One delivery, as the consumer saw it. Times by the clock of `performance.now()`, in milliseconds. */
export interface Seen {
  readonly body: string;
  readonly attempt: number;
  /** The time of the request. The queue's own visibility timeout counts from a later moment. */
  readonly askedAtMs: number;
  /** The time of its answer. */
  readonly receivedAtMs: number;
  /** The time of the first operation. Delays count from a later moment. */
  readonly settledAtMs: number;
  /** The time when the last operation was answered; Infinity before. Delays count from an earlier moment. */
  readonly answeredAtMs: number;
  readonly message: Message;
}

/** A consumer that does exactly the operations of a contract: it knows no strategy. */
export interface DrivenConsumer {
  readonly seen: readonly Seen[];
  /** The times of the requests that brought no message. */
  readonly emptyAtMs: readonly number[];
  /** Asks for messages once, without waiting, and handles them. @returns the number of messages */
  readonly poll: () => Promise<number>;
  /** Polls until a condition holds. @throws Error when it does not within the time */
  readonly pollUntil: (condition: () => boolean | Promise<boolean>, limitMs?: number) => Promise<void>;
}

export interface DriveOptions {
  readonly sqs: SQSClient;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly contract: SqsContract;
  /** Decides the end of this run of the handler. */
  readonly decide: (delivery: { readonly body: string; readonly attempt: number }) => Decision;
}

const pauseMs = 50;

export function drive(options: DriveOptions): DrivenConsumer {
  const { contract, sqs, queues } = options;
  const seen: Seen[] = [];
  const emptyAtMs: number[] = [];
  const poll = async (): Promise<number> => {
    const { maxNumberOfMessages, messageSystemAttributeNames, messageAttributeNames } = contract.receive;
    const askedAtMs = performance.now();
    const answer = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: urlOf(queues, contract.workQueue),
        MaxNumberOfMessages: maxNumberOfMessages,
        MessageSystemAttributeNames: [...messageSystemAttributeNames],
        MessageAttributeNames: [...messageAttributeNames],
        WaitTimeSeconds: 0,
      }),
    );
    const messages = answer.Messages ?? [];
    if (messages.length === 0) emptyAtMs.push(askedAtMs);
    const times = { askedAtMs, receivedAtMs: performance.now() };
    await Promise.all(messages.map(async (message) => handle(options, seen, message, times)));
    return messages.length;
  };
  return {
    seen,
    emptyAtMs,
    poll,
    pollUntil: async (condition, limitMs = 25_000) => {
      const deadline = performance.now() + limitMs;
      while (!(await condition())) {
        if (performance.now() > deadline)
          throw new Error(`the condition did not hold within ${limitMs} ms: ${condition.toString()}`);
        await poll();
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
}

async function handle(
  options: DriveOptions,
  seen: Seen[],
  message: Message,
  times: Pick<Seen, "askedAtMs" | "receivedAtMs">,
): Promise<void> {
  const body = message.Body ?? "";
  const attempt = Number(message.Attributes?.ApproximateReceiveCount);
  const decision = options.decide({ body, attempt });
  const run = { body, attempt, ...times, settledAtMs: performance.now(), answeredAtMs: Infinity, message };
  seen.push(run);
  for (const operation of operationsFor<Operation>(options.contract, decision, attempt, withAsked))
    await perform(options, message, operation);
  run.answeredAtMs = performance.now();
}

function withAsked(operation: Operation, askMs: number): Operation {
  if (operation.operation !== "ChangeMessageVisibility" || operation.visibilityTimeoutSeconds !== "asked")
    return operation;
  const asked = Math.ceil(askMs / 1_000);
  return { ...operation, visibilityTimeoutSeconds: { from: asked, to: asked } };
}

async function perform({ sqs, queues, contract }: DriveOptions, message: Message, operation: Operation): Promise<void> {
  const handle = { QueueUrl: urlOf(queues, contract.workQueue), ReceiptHandle: message.ReceiptHandle };
  switch (operation.operation) {
    case "DeleteMessage":
      await sqs.send(new DeleteMessageCommand(handle));
      return;
    case "ChangeMessageVisibility": {
      const { visibilityTimeoutSeconds: seconds } = operation;
      if (seconds === "asked") throw new Error("no handler asked for a delay");
      const { from, to } = seconds;
      const VisibilityTimeout = from + Math.floor(Math.random() * (to - from + 1));
      await sqs.send(new ChangeMessageVisibilityCommand({ ...handle, VisibilityTimeout }));
      return;
    }
    case "SendMessage": {
      const added = Object.entries(operation.attributes).map(([name, StringValue]) => [
        name,
        { DataType: "String", StringValue },
      ]);
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: urlOf(queues, operation.queue),
          MessageBody: message.Body,
          MessageAttributes: { ...message.MessageAttributes, ...(Object.fromEntries(added) as object) },
          ...(operation.fifo === undefined
            ? {}
            : { MessageGroupId: message.Attributes?.MessageGroupId, MessageDeduplicationId: message.MessageId }),
        }),
      );
    }
  }
}

function urlOf(queues: ReadonlyMap<string, Queue>, name: string): string {
  const queue = queues.get(name);
  if (queue === undefined) throw new Error(`there is no queue ${name}`);
  return queue.url;
}
