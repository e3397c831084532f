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

/** What a receive takes at most; by default one message, and no waiting for it. */
export interface ReceiveOptions {
  readonly max?: number;
  readonly waitSeconds?: number;
}

/** An emulator with the few calls that experiments are made of. Queues get names of their own, so experiments share emulators. */
export interface Lab {
  readonly emulator: SqsEmulator;
  readonly sqs: SQSClient;
  readonly sns: SNSClient;
  createQueue(attributes?: QueueAttributes, name?: string): Promise<Queue>;
  /** The first-in-first-out kind, with deduplication by content. */
  createFifoQueue(attributes?: QueueAttributes): Promise<Queue>;
  createTopic(): Promise<string>;
  publish(topicArn: string, message: string, attributes?: SendMessageCommandInput["MessageAttributes"]): Promise<void>;
  /** @returns the message id */
  send(queue: Queue, body: string, input?: Partial<SendMessageCommandInput>): Promise<string>;
  receive(queue: Queue, options?: ReceiveOptions): Promise<readonly Message[]>;
  /** Receives until there is a message or the time is over. */
  receiveWithin(queue: Queue, durationMs: number): Promise<Message | undefined>;
  changeVisibility(queue: Queue, message: Message, seconds: number): Promise<void>;
  deleteMessage(queue: Queue, message: Message): Promise<void>;
  /** How many messages are in a queue: visible, in flight and delayed. */
  count(queue: Queue): Promise<number>;
  /** Removes what was created and closes the clients. */
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
 * The first count that two reads in a row agree on. moto reads the messages that are visible before those that are not, so one that becomes visible
 * between the two is counted nowhere, and a queue that holds it alone seems empty.
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

/** A redrive policy as the attribute wants it: JSON in a string. */
export function redrivePolicy(deadLetterQueue: { readonly arn: string }, maxReceiveCount: number): QueueAttributes {
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetterQueue.arn, maxReceiveCount }) };
}

/**
 * Whether a request is refused. A server that fails at it (500) has not refused it but does not know it; anything else that goes
 * wrong is no answer and is thrown.
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
