import { isDeepStrictEqual } from "node:util";

import { type Ends, operationsOfEnds } from "../consume/every-ending.ts";
import type { Call } from "./recording-proxy.ts";
import type { SqsContract } from "./drive.ts";

type Operation = NonNullable<SqsContract["retryAfter"]>[number]["byAttempt"][number][number];
type SendOperation = Extract<Operation, { readonly operation: "SendMessage" }>;

/** The end of an attempt by its handler. */
export type Ended = (body: string, attempt: number) => Ends;

interface Received {
  readonly ReceiptHandle: string;
  readonly MessageId: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<Record<string, Attribute>>;
}

interface Attribute {
  readonly DataType?: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

/** A message in a consumer's hands. */
interface Delivery {
  readonly message: Received;
  readonly workQueueUrl: unknown;
  /** The times of its arrival and of its next arrival, by the clock of the calls. */
  readonly atMs: number;
  readonly untilMs: number;
  readonly attempt: number;
  readonly ends: Ends;
  /** Null if the end of the handler is unknown. */
  readonly endedAtMs: number | null;
}

/**
 * Compares the calls of a consumer with its contract. It checks the receives. For each message it checks the
 * operations, their order and their values. Each must wait for the answer of the one before, and the first for the
 * handler. It knows nothing of the consumer's code.
 *
 * @param endedAtMs the end of an attempt's handler, if known
 * @returns the differences, in words; empty for a consumer that keeps its contract
 */
export function breachesOf(
  contract: SqsContract,
  calls: readonly Call[],
  ended: Ended,
  endedAtMs: (body: string, attempt: number) => number | null = () => null,
): readonly string[] {
  const first = calls.findIndex(({ operation }) => operation === "ReceiveMessage");
  // The consumer's calls before its first receive concern no message: they check its rights.
  const made = calls.slice(Math.max(0, first));
  const receives = made.filter(({ operation }) => operation === "ReceiveMessage");
  const received = receives.flatMap((call) =>
    ((call.output["Messages"] ?? []) as readonly Received[]).map((message) => ({ call, message })),
  );
  const deliveries = received.map(({ call, message }, index): Delivery => {
    const attempt = Number(message.Attributes?.["ApproximateReceiveCount"]);
    const again = received.slice(index + 1).find((other) => other.message.MessageId === message.MessageId);
    return {
      message,
      workQueueUrl: call.input["QueueUrl"],
      atMs: call.answeredAtMs ?? call.calledAtMs,
      untilMs: again?.call.answeredAtMs ?? Infinity,
      attempt,
      ends: ended(message.Body, attempt),
      endedAtMs: endedAtMs(message.Body, attempt),
    };
  });
  const isSettlement = ({ operation }: Call): boolean =>
    ["SendMessage", "DeleteMessage", "ChangeMessageVisibility"].includes(operation);
  const strays = made.filter((call) => isSettlement(call) && !deliveries.some((delivery) => isAbout(call, delivery)));
  return [
    ...receives.flatMap((call) => receiveBreaches(contract, call)),
    ...strays.map(({ operation }) => `${operation} about nothing that was received`),
    ...deliveries.flatMap((delivery) =>
      messageBreaches(contract, made, delivery).map(
        (breach) => `${delivery.message.Body}, attempt ${delivery.attempt}: ${breach}`,
      ),
    ),
  ];
}

function receiveBreaches({ receive }: SqsContract, { input }: Call): string[] {
  const breaches: string[] = [];
  const most = Number(input["MaxNumberOfMessages"] ?? 1);
  if (most > receive.maxNumberOfMessages)
    breaches.push(`receives ${most} at a time, ${receive.maxNumberOfMessages} at most`);
  for (const list of ["MessageSystemAttributeNames", "MessageAttributeNames"] as const) {
    const asked = (input[list] ?? []) as readonly string[];
    const wanted =
      list === "MessageAttributeNames" ? receive.messageAttributeNames : receive.messageSystemAttributeNames;
    for (const name of wanted) if (!asked.includes(name)) breaches.push(`does not ask for ${name}`);
  }
  if (input["VisibilityTimeout"] !== undefined) breaches.push("receives with a visibility timeout of its own");
  return breaches;
}

function messageBreaches(contract: SqsContract, calls: readonly Call[], delivery: Delivery): string[] {
  const { ends, attempt, endedAtMs } = delivery;
  const { operations, askedMs } = operationsOfEnds<Operation>(contract, ends, attempt);
  const made = calls.filter((call) => isAbout(call, delivery));
  const [madeWords, wantedWords] = [made, operations].map((some) => some.map(({ operation }) => operation));
  if (madeWords?.join() !== wantedWords?.join())
    return [`${madeWords?.join(", then ") || "nothing"} instead of ${wantedWords?.join(", then ") || "nothing"}`];
  const [first] = made;
  const isTooSoon = first !== undefined && endedAtMs !== null && first.calledAtMs < endedAtMs;
  return [
    ...(isTooSoon ? [`${first.operation} before its handler has ended`] : []),
    ...made.flatMap((call, index) => [
      ...(index > 0 && !isAfter(call, made[index - 1]) ? [`${call.operation} before SQS has answered`] : []),
      ...operationBreaches(call, operations[index] as Operation, delivery, askedMs),
    ]),
  ];
}

function isAfter({ calledAtMs }: Call, before: Call | undefined): boolean {
  return before?.status === 200 && before.answeredAtMs !== null && before.answeredAtMs <= calledAtMs;
}

/**
 * A copy names no receipt. It is recognised by its body, which differs for each message of a test, or by the message id
 * that it carries. It belongs to the last receive before it.
 */
function isAbout({ operation, input, calledAtMs }: Call, { message, atMs, untilMs }: Delivery): boolean {
  const { ReceiptHandle, MessageId, Body } = message;
  if (operation !== "SendMessage") return input["ReceiptHandle"] === ReceiptHandle;
  if (calledAtMs < atMs || calledAtMs >= untilMs) return false;
  return input["MessageBody"] === Body || sentAttributes(input)["dlq-original-message-id"]?.StringValue === MessageId;
}

function sentAttributes(input: Call["input"]): Readonly<Record<string, Attribute>> {
  return (input["MessageAttributes"] ?? {}) as Readonly<Record<string, Attribute>>;
}

function operationBreaches({ input }: Call, operation: Operation, delivery: Delivery, askedMs: number | null) {
  if (operation.operation === "SendMessage") return copyBreaches(input, operation, delivery);
  const breaches = input["QueueUrl"] === delivery.workQueueUrl ? [] : [`in the queue ${String(input["QueueUrl"])}`];
  if (operation.operation === "DeleteMessage") return breaches;
  const seconds = input["VisibilityTimeout"];
  const range = operation.visibilityTimeoutSeconds;
  const askedSeconds = Math.ceil((askedMs ?? Number.NaN) / 1_000);
  const { from, to } = range === "asked" ? { from: askedSeconds, to: askedSeconds } : range;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= from && seconds <= to) return breaches;
  return [...breaches, `hidden for ${String(seconds)} s instead of ${from} to ${to} s`];
}

/** The properties that a message and its copy share beside their attributes. A copy has no other property of a send. */
function copyBreaches(input: Call["input"], operation: SendOperation, delivery: Delivery): string[] {
  const { message } = delivery;
  const { MessageAttributes: _, QueueUrl, ...rest } = input;
  const wanted: Readonly<Record<string, unknown>> = {
    MessageBody: message.Body,
    ...(operation.fifo?.messageGroupId === "kept" ? { MessageGroupId: message.Attributes?.["MessageGroupId"] } : {}),
    ...(operation.fifo?.messageDeduplicationId === "message-id" ? { MessageDeduplicationId: message.MessageId } : {}),
  };
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(rest)])];
  return [
    ...(String(QueueUrl).endsWith(`/${operation.queue}`) ? [] : [`the copy goes to ${String(QueueUrl)}`]),
    ...names
      .filter((name) => wanted[name] !== rest[name])
      .map((name) => `its ${name} is ${String(rest[name])} instead of ${String(wanted[name])}`),
    ...attributeBreaches(sentAttributes(input), operation, delivery),
  ];
}

function attributeBreaches(
  sent: Readonly<Record<string, Attribute>>,
  operation: SendOperation,
  { message, ends, attempt }: Delivery,
): string[] {
  const told = { ...operation.attributes };
  if (typeof ends === "object" && "permanent" in ends) told["dlq-failure-reason"] = ends.permanent;
  const wanted: Readonly<Record<string, Attribute>> = {
    ...Object.fromEntries(Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, plain(value)])),
    ...Object.fromEntries(
      Object.entries(told).map(([name, StringValue]) => [name, { DataType: "String", StringValue }]),
    ),
  };
  const words: Readonly<Record<string, string>> = {
    "dlq-retry-count": String(attempt),
    "dlq-original-message-id": message.MessageId,
  };
  return [
    ...Object.keys(wanted).flatMap((name) => {
      const found = sent[name];
      if (found === undefined) return [`the copy lacks ${name}`];
      return isDeepStrictEqual(plain(found), wanted[name]) ? [] : [`its ${name} is ${JSON.stringify(found)}`];
    }),
    ...Object.entries(sent).flatMap(([name, { DataType, StringValue = "" }]) => {
      if (name in wanted) return [];
      if (DataType !== "String") return [`its ${name} is of type ${String(DataType)}`];
      if (!name.startsWith("dlq-")) return [`${name} on the copy`];
      return StringValue === (words[name] ?? StringValue) ? [] : [`its ${name} is ${StringValue}`];
    }),
  ];
}

/** Without the lists that some emulators show, and SQS does not implement. */
function plain({ DataType, StringValue, BinaryValue }: Attribute): Attribute {
  return {
    ...(DataType === undefined ? {} : { DataType }),
    ...(StringValue === undefined ? {} : { StringValue }),
    ...(BinaryValue === undefined ? {} : { BinaryValue }),
  };
}
