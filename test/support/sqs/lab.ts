import { randomUUID } from "node:crypto";
import { CreateTopicCommand, DeleteTopicCommand, PublishCommand, type SNSClient } from "@aws-sdk/client-sns";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SendMessageCommandInput,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { createSnsClient, createSqsClient } from "./clients.ts";
import type { SqsEmulator } from "./emulators.ts";

export interface Queue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

export type QueueAttributes = Readonly<Record<string, string>>;

/** The limits of a receive. The default is one message, without a wait. */
export interface ReceiveOptions {
  readonly max?: number;
  readonly waitSeconds?: number;
}

/**
 * An emulator with the few calls of experiments. Queues get names of their own, so that experiments can share
 * emulators.
 */
export interface Lab {
  readonly emulator: SqsEmulator;
  readonly sqs: SQSClient;
  readonly sns: SNSClient;
  createQueue(attributes?: QueueAttributes, name?: string): Promise<Queue>;
  /** The FIFO kind, with deduplication by content. */
  createFifoQueue(attributes?: QueueAttributes): Promise<Queue>;
  createTopic(): Promise<string>;
  publish(topicArn: string, message: string, attributes?: SendMessageCommandInput["MessageAttributes"]): Promise<void>;
  /** @returns the message id */
  send(queue: Queue, body: string, input?: Partial<SendMessageCommandInput>): Promise<string>;
  receive(queue: Queue, options?: ReceiveOptions): Promise<readonly Message[]>;
  /** Receives until a message comes or the time ends. */
  receiveWithin(queue: Queue, durationMs: number): Promise<Message | undefined>;
  changeVisibility(queue: Queue, message: Message, seconds: number): Promise<void>;
  deleteMessage(queue: Queue, message: Message): Promise<void>;
  /** The number of messages in a queue: visible, in flight and delayed. */
  count(queue: Queue): Promise<number>;
  /** Deletes the created resources and closes the clients. */
  dispose(): Promise<void>;
}

export const sleep = async (durationMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, durationMs));

export function createLab(emulator: SqsEmulator): Lab {
  const sqs = createSqsClient(emulator.endpoint);
  const sns = createSnsClient(emulator.endpoint);
  const undo: (() => Promise<unknown>)[] = [];
  const create = async (name: string, attributes: QueueAttributes): Promise<Queue> => {
    const { QueueUrl: url = "" } = await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    undo.push(async () => sqs.send(new DeleteQueueCommand({ QueueUrl: url })));
    return { name, url, arn: (await attributesOf(sqs, url))["QueueArn"] ?? "" };
  };
  const receive: Lab["receive"] = async (queue, options) => receiveFrom(sqs, queue, options);
  return {
    emulator,
    sqs,
    sns,
    createQueue: async (attributes = {}, name = `test-${randomUUID()}`) => create(name, attributes),
    createFifoQueue: async (attributes = {}) => {
      const fifo = { FifoQueue: "true", ContentBasedDeduplication: "true" };
      return create(`test-${randomUUID()}.fifo`, { ...fifo, ...attributes });
    },
    createTopic: async () => {
      const { TopicArn: arn = "" } = await sns.send(new CreateTopicCommand({ Name: `test-${randomUUID()}` }));
      undo.push(async () => sns.send(new DeleteTopicCommand({ TopicArn: arn })));
      return arn;
    },
    publish: async (topicArn, message, attributes) =>
      void (await sns.send(
        new PublishCommand({ TopicArn: topicArn, Message: message, MessageAttributes: attributes ?? {} }),
      )),
    send: async (queue, body, input = {}) => {
      const answer = await sqs.send(new SendMessageCommand({ ...input, QueueUrl: queue.url, MessageBody: body }));
      return answer.MessageId ?? "";
    },
    receive,
    receiveWithin: async (queue, durationMs) => {
      const deadline = performance.now() + durationMs;
      for (;;) {
        const [message] = await receive(queue);
        if (message !== undefined || performance.now() > deadline) return message;
        await sleep(50);
      }
    },
    changeVisibility: async (queue, message, seconds) =>
      void (await sqs.send(
        new ChangeMessageVisibilityCommand({ ...handle(queue, message), VisibilityTimeout: seconds }),
      )),
    deleteMessage: async (queue, message) => void (await sqs.send(new DeleteMessageCommand(handle(queue, message)))),
    count: async (queue) => steadyCount(async () => countIn(await attributesOf(sqs, queue.url))),
    dispose: async () => {
      await Promise.allSettled(undo.map(async (each) => each()));
      sqs.destroy();
      sns.destroy();
    },
  };
}

async function attributesOf(sqs: SQSClient, url: string): Promise<QueueAttributes> {
  const answer = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }));
  return answer.Attributes ?? {};
}

/**
 * The first count that two reads in a row agree on. moto counts the visible messages before the invisible ones. A
 * message that becomes visible in between is in neither count, so a queue with this message alone seems empty.
 */
async function steadyCount(read: () => Promise<number>): Promise<number> {
  for (let before = await read(); ;) {
    const now = await read();
    if (now === before) return now;
    before = now;
  }
}

function countIn(attributes: QueueAttributes): number {
  const states = ["", "NotVisible", "Delayed"].map((state) => `ApproximateNumberOfMessages${state}`);
  return states.reduce((sum, name) => sum + Number(attributes[name] ?? 0), 0);
}

async function receiveFrom(sqs: SQSClient, queue: Queue, options: ReceiveOptions = {}): Promise<readonly Message[]> {
  const answer = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queue.url,
      MaxNumberOfMessages: options.max ?? 1,
      WaitTimeSeconds: options.waitSeconds ?? 0,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    }),
  );
  return answer.Messages ?? [];
}

const handle = (queue: Queue, message: Message) => ({
  QueueUrl: queue.url,
  ReceiptHandle: message.ReceiptHandle ?? "",
});

/** A redrive policy in the form of the attribute: JSON in a string. */
export function redrivePolicy(deadLetterQueue: { readonly arn: string }, maxReceiveCount: number): QueueAttributes {
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetterQueue.arn, maxReceiveCount }) };
}

/**
 * Tells if a request is refused. A server that fails (500) has not refused the request but does not know it. Any other
 * error is no answer and is thrown.
 */
export async function answerTo(request: Promise<unknown>): Promise<"accepted" | "refused" | "unknown to it"> {
  try {
    await request;
    return "accepted";
  } catch (error) {
    const { $metadata, $response } = error as {
      readonly $metadata?: { readonly httpStatusCode?: number };
      readonly $response?: { readonly statusCode?: number };
    };
    const status = $metadata?.httpStatusCode ?? $response?.statusCode;
    if (status === undefined) throw error;
    return status >= 500 ? "unknown to it" : "refused";
  }
}
