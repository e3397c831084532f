import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import type {
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
} from "@azure/service-bus";
import { isServiceBusError } from "@azure/service-bus";
import { createReceiver, subscriptionOf } from "@redeliver/servicebus-emulator";

import type { CompiledSystem } from "../../../src/index.ts";
import { type Decision, operationsFor } from "../decide.ts";

export type ServicebusContract = CompiledSystem<"servicebus">["contracts"][number];
type Operation = NonNullable<ServicebusContract["retryAfter"]>[number]["byAttempt"][number][number];
type SendOperation = Extract<Operation, { readonly queue: string }>;

/**
 * One delivery, as the consumer saw it. Times are by the clock of `Date.now()`, which decides the due times of copies.
 */
export interface Seen {
  readonly body: string;
  readonly attempt: number;
  readonly originalId: string;
  readonly receivedAtMs: number;
  /** The time of the first operation. Delays count from a later moment. */
  readonly settledAtMs: number;
  readonly message: ServiceBusReceivedMessage;
}

/** A consumer that does exactly the operations of a contract: it knows no strategy. */
export interface DrivenConsumer {
  readonly seen: readonly Seen[];
  /** Receives one message, if one comes within the time, and handles it. @returns true if one came */
  readonly poll: (waitMs?: number) => Promise<boolean>;
  /** Polls until a condition holds. @throws Error when it does not within the time */
  readonly pollUntil: (condition: () => boolean | Promise<boolean>, limitMs?: number) => Promise<void>;
}

export interface DriveOptions {
  /** A connection of its own, which ends with a crash. */
  readonly connect: () => ServiceBusClient;
  readonly contract: ServicebusContract;
  /** Decides the end of this run of the handler. */
  readonly decide: (delivery: { readonly body: string; readonly attempt: number }) => Decision;
  /** The position of a delay in the range of its jitter, from 0 to 1. */
  readonly draw?: () => number;
}

interface Connected {
  readonly client: ServiceBusClient;
  /** Null if no session is available. */
  readonly receiver: ServiceBusReceiver | null;
}

export function drive(options: DriveOptions): DrivenConsumer {
  const seen: Seen[] = [];
  let connected: Connected | null = null;
  const poll = async (waitMs = 200): Promise<boolean> => {
    connected ??= await connect(options);
    const { client, receiver } = connected;
    if (receiver === null) {
      connected = null;
      await client.close();
      return false;
    }
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: waitMs });
    const isGone = message !== undefined && (await handle(options, seen, { client, receiver }, message));
    // Gives back a silent session, and asks for another one.
    const isDone = message === undefined && options.contract.receive.sessions;
    if (isGone || isDone) {
      connected = null;
      await client.close();
    }
    return message !== undefined;
  };
  return {
    seen,
    poll,
    pollUntil: async (condition, limitMs = 45_000) => {
      const deadline = Date.now() + limitMs;
      while (!(await condition())) {
        if (Date.now() > deadline)
          throw new Error(`the condition did not hold within ${limitMs} ms: ${condition.toString()}`);
        await poll();
      }
    },
  };
}

async function connect({ connect: open, contract }: DriveOptions): Promise<Connected> {
  const client = open();
  const { sessions, lockRenewalMs: maxAutoLockRenewalDurationInMs } = contract.receive;
  if (!sessions)
    return { client, receiver: createReceiver(client, contract.workQueue, { maxAutoLockRenewalDurationInMs }) };
  try {
    const subscription = subscriptionOf(contract.workQueue);
    const renewing = { maxAutoLockRenewalDurationInMs };
    const receiver = await (subscription === null
      ? client.acceptNextSession(contract.workQueue, renewing)
      : client.acceptNextSession(subscription.topic, subscription.name, renewing));
    return { client, receiver };
  } catch (error) {
    if (isServiceBusError(error) && error.code === "ServiceTimeout") return { client, receiver: null };
    throw error;
  }
}

/** @returns true if the consumer crashed, or has given its session back */
async function handle(
  options: DriveOptions,
  seen: Seen[],
  connected: Connected & { readonly receiver: ServiceBusReceiver },
  message: ServiceBusReceivedMessage,
): Promise<boolean> {
  const receivedAtMs = Date.now();
  const { contract, decide } = options;
  const body = String(message.body);
  const { attempt, originalId } = attemptOf(contract, message);
  const decision = decide({ body, attempt });
  seen.push({ body, attempt, originalId, receivedAtMs, settledAtMs: Date.now(), message });
  const operations = operationsFor<Operation>(contract, decision, attempt, withAsked);
  for (const operation of operations) {
    // Two outcomes in one turn of the event loop become one below the SDK: see docs/broker-facts.md.
    await nextTurn();
    await perform(options, connected, { message, originalId }, operation);
  }
  const isCrash = decision === "crash" || (typeof decision === "object" && "crashAfter" in decision);
  return isCrash || operations.some(({ operation }) => operation === "closeSession");
}

function attemptOf(
  { attemptNumber }: ServicebusContract,
  { deliveryCount = 0, applicationProperties = {}, messageId }: ServiceBusReceivedMessage,
): { readonly attempt: number; readonly originalId: string } {
  const own = String(messageId);
  if (attemptNumber.from === "delivery-count") return { attempt: deliveryCount + 1, originalId: own };
  return {
    attempt: Number(applicationProperties[attemptNumber.attempt] ?? 1),
    originalId: String(applicationProperties[attemptNumber.originalId] ?? own),
  };
}

function withAsked(operation: Operation, askMs: number): Operation {
  if (operation.operation !== "schedule" || operation.delayMs !== "asked") return operation;
  return { ...operation, delayMs: { from: askMs, to: askMs } };
}

interface Handled {
  readonly message: ServiceBusReceivedMessage;
  readonly originalId: string;
}

async function perform(
  { contract, draw = Math.random }: DriveOptions,
  { client, receiver }: Connected & { readonly receiver: ServiceBusReceiver },
  handled: Handled,
  operation: Operation,
): Promise<void> {
  const { message } = handled;
  switch (operation.operation) {
    case "complete":
      await receiver.completeMessage(message);
      return;
    case "abandon":
      await receiver.abandonMessage(message);
      return;
    case "release":
      await release(receiver, message);
      return;
    case "closeSession":
      await receiver.close();
      return;
    case "deadLetter":
      await receiver.deadLetterMessage(message, {
        deadLetterReason: operation.reason,
        deadLetterErrorDescription: `what the error of ${String(message.body)} says`,
      });
      return;
    case "schedule":
    case "send": {
      const sender = client.createSender(operation.queue);
      const copy = copyOf(contract, handled, operation);
      if (operation.operation === "send") await sender.sendMessages(copy);
      else {
        const scheduledEnqueueTimeUtc = new Date(Date.now() + delayOf(operation, draw));
        await sender.sendMessages({ ...copy, scheduledEnqueueTimeUtc });
      }
      await sender.close();
      return;
    }
    default:
      operation satisfies never;
  }
}

/** The SDK has no method for it: its abandon, with the other outcome. */
async function release(receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage): Promise<void> {
  const { delivery } = message as unknown as { readonly delivery: { modified: () => void; release: () => void } };
  delivery.modified = () => delivery.release();
  await receiver.abandonMessage(message);
}

function delayOf({ delayMs }: SendOperation, draw: () => number): number {
  if (delayMs === undefined || delayMs === "asked") throw new Error("no delay is known");
  return delayMs.from + Math.round(draw() * (delayMs.to - delayMs.from));
}

/** As the contract says it. */
export function copyIdFor(
  { longestMessageId }: ServicebusContract,
  originalId: string,
  { messageIdSuffix }: SendOperation,
): string {
  if (originalId.length + messageIdSuffix.length <= longestMessageId) return originalId + messageIdSuffix;
  return createHash("sha256").update(originalId).digest("hex") + messageIdSuffix;
}

function copyOf(
  contract: ServicebusContract,
  { message, originalId }: Handled,
  operation: SendOperation,
): ServiceBusMessage {
  const added = { ...operation.applicationProperties, "redeliver-original-id": originalId };
  const kept = Object.entries(message.applicationProperties ?? {}).filter(
    ([name]) => !operation.removeApplicationProperties.includes(name),
  );
  return {
    body: message.body as unknown,
    messageId: copyIdFor(contract, originalId, operation),
    applicationProperties: { ...Object.fromEntries(kept), ...added },
    ...(message.subject === undefined ? {} : { subject: message.subject }),
    ...(message.contentType === undefined ? {} : { contentType: message.contentType }),
    ...(message.correlationId === undefined ? {} : { correlationId: message.correlationId }),
  };
}
