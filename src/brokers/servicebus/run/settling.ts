import type {
  DeadLetterOptions,
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusSessionReceiver,
} from "@azure/service-bus";

import { type SettleValues, NotOursError } from "../../../consume/port/adapter.ts";
import { type Progress, performAll } from "../../../consume/port/perform-all.ts";
import { inTime } from "../../../consume/port/long-timer.ts";
import { answerWithinMs, codeOf } from "./client.ts";
import type { Contract, DeadLetterOperation, Operation, SendOperation } from "../compile/contract.ts";
import { drawnDelay } from "../../../contract/interpret.ts";
import { copyMessage } from "./copy-message.ts";
import type { OnePerTurn } from "./one-per-turn.ts";
import { withRoom } from "./room.ts";
import { type SendCopy, createSendCopy, TooLargeError } from "./sending.ts";

/** The end of a message's time in our hands. */
export type MessageEnd = "settled" | "not-ours";

/** A message that the broker keeps locked for us. */
export interface LockedMessage {
  readonly message: ServiceBusReceivedMessage;
  readonly receiver: ServiceBusReceiver | ServiceBusSessionReceiver;
  /** The id from which the ids of its copies are made. */
  readonly originalId: string;
  /** Called once, when the message is settled or no longer ours. */
  readonly over: (end: MessageEnd) => void;
  readonly progress: Progress<Operation>;
  /** From the first settlement on, its lock is renewed no more. Null until then. */
  lockedUntilMs: number | null;
}

/** The input that settlements share. */
export type Settling = ReturnType<typeof createSettling>;

/** The settlement of one message. */
interface Settlement extends Settling {
  readonly held: LockedMessage;
  readonly values: SettleValues;
}

export function createServiceClock(lockMs: number) {
  /** The service's clock minus the monotonic one. */
  let offsetMs = -Infinity;
  return {
    /** Service Bus locks a message as it delivers it, and names the end of the lock by its own clock. */
    measure: ({ lockedUntilUtc }: ServiceBusReceivedMessage): void => {
      const lockedAtMs = (lockedUntilUtc?.getTime() ?? Number.NaN) - lockMs;
      if (!Number.isNaN(lockedAtMs)) offsetMs = Math.max(offsetMs, lockedAtMs - performance.now());
    },
    /** Rounded up. Never before the time of the wall clock, since a measurement is a lower bound. */
    nowMs: () => Math.max(Date.now() + 1, Math.ceil(performance.now() + offsetMs)),
  };
}

export function createSettling(client: ServiceBusClient, contract: Contract, onePerTurn: OnePerTurn) {
  const senders = new Map<string, SendCopy>();
  return {
    contract,
    onePerTurn,
    clock: createServiceClock(contract.receive.lockMs),
    senderTo: (queue: string): SendCopy => {
      const sender = senders.get(queue) ?? createSendCopy(client, queue, contract);
      senders.set(queue, sender);
      return sender;
    },
  };
}

/**
 * Does the operations in order, each after Service Bus has answered the one before.
 *
 * @throws NotOursError if the lock is lost
 */
export async function settleMessage(
  settling: Settling,
  held: LockedMessage,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> {
  try {
    const settlement = { ...settling, held, values };
    await performAll(held.progress, operations, (operation) => perform(settlement, operation));
  } catch (error) {
    if (!isNotOurs(error) && !isLockOver(held)) throw error;
    held.over("not-ours");
    throw new NotOursError(error);
  }
  held.over("settled");
}

/**
 * A settlement without an answer may be done or not. The consumer repeats it while the message is certainly ours, and
 * then stops. A broker that has settled a message no longer knows it and stays silent. Each such message would occupy a
 * handler's place.
 */
function isLockOver({ lockedUntilMs }: LockedMessage): boolean {
  return lockedUntilMs !== null && performance.now() >= lockedUntilMs;
}

/** The lock has expired, another consumer holds the session, or the message was settled and the answer was lost. */
function isNotOurs(error: unknown): boolean {
  return ["MessageLockLost", "SessionLockLost", "MessageNotFound"].includes(codeOf(error) ?? "");
}

/**
 * @returns `over` if the message is dead although the operation would not have ended it. No other operation follows
 *   then
 */
async function perform(settlement: Settlement, operation: Operation): Promise<"over" | void> {
  const { contract, onePerTurn, held, values } = settlement;
  const { message, receiver } = held;
  // The SDK renews no lock of a message that is being settled. Source: 7.9.5, `MessageReceiver.settleMessage`.
  if (!("queue" in operation)) held.lockedUntilMs ??= performance.now() + contract.receive.lockMs;
  switch (operation.operation) {
    case "complete":
      return answered(onePerTurn(() => receiver.completeMessage(message)));
    case "abandon":
      return answered(onePerTurn(() => receiver.abandonMessage(message, changesOf(contract, message, values))));
    case "release":
      return answered(onePerTurn(() => release(receiver, message)));
    case "closeSession":
      return receiver.close();
    case "deadLetter":
      return end(settlement, operation);
    case "schedule":
    case "send":
      return sendCopy(settlement, operation);
    default:
      return operation satisfies never;
  }
}

async function sendCopy(settlement: Settlement, operation: SendOperation): Promise<"over" | void> {
  const { contract, senderTo, clock, held, values } = settlement;
  const { message, originalId } = held;
  const dueAt = operation.operation === "schedule" ? dueAtFor(operation, values, clock.nowMs()) : null;
  const carried = withRoom(message, values.carried, contract);
  try {
    await senderTo(operation.queue)(copyMessage(message, { originalId, operation, carried, dueAt }, contract));
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    held.lockedUntilMs ??= performance.now() + contract.receive.lockMs;
    await end(settlement, operation.ifTooLarge, error.message);
    return "over";
  }
}

/** @param because the reason of the death, if it is not the handler's error */
function end(settlement: Settlement, operation: DeadLetterOperation, because: string | null = null): Promise<void> {
  const { onePerTurn, held } = settlement;
  const words = lastWords(settlement, operation, because);
  return answered(onePerTurn(() => held.receiver.deadLetterMessage(held.message, words)));
}

/**
 * The SDK has no call for a release, so this sends its abandon with AMQP's other outcome. If a later SDK hides the
 * delivery, it stays an abandon. Source: 7.9.5, `MessageReceiver.settleMessage`.
 */
function release(receiver: LockedMessage["receiver"], message: ServiceBusReceivedMessage): Promise<void> {
  const { delivery } = message as { readonly delivery?: { readonly release: () => void; modified: () => void } };
  if (delivery !== undefined) delivery.modified = () => delivery.release();
  return receiver.abandonMessage(message);
}

/**
 * Application properties that an abandon sets on the message, so that it comes again with them. None if there is
 * nothing to write.
 */
function changesOf(
  contract: Contract,
  message: ServiceBusReceivedMessage,
  { carried }: SettleValues,
): Parameters<ServiceBusReceiver["abandonMessage"]>[1] {
  if (Object.keys(carried).length === 0) return undefined;
  const changes = withRoom(message, carried, contract);
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/**
 * With sessions, the SDK waits a minute for the answer and ignores the client's limit. Source: 7.9.5,
 * `MessageSession.settleMessage`.
 */
function answered(settlement: Promise<void>): Promise<void> {
  const silent = (): Error => new Error("Service Bus did not confirm that the message is settled");
  return inTime(answerWithinMs, settlement, silent, null);
}

function dueAtFor(
  { delayMs = { from: 0, to: 0 } }: SendOperation,
  { askedDelayMs }: SettleValues,
  nowMs: number,
): Date {
  return new Date(nowMs + drawnDelay(delayMs, askedDelayMs, Math.random()));
}

/**
 * Application properties of the dead letter, as far as there is room. The two properties with names in Service Bus come
 * first.
 */
function lastWords(
  { contract, held, values: { deadLetter, carried } }: Settlement,
  { reason }: DeadLetterOperation,
  because: string | null,
): DeadLetterOptions & Record<string, string> {
  const told = { "dlq-failure-reason": reason, ...deadLetter };
  const thrown = messageIn(deadLetter?.["dlq-exception-stack-trace-summary"] ?? "");
  const named = {
    deadLetterReason: told["dlq-failure-reason"],
    deadLetterErrorDescription: because === null ? thrown : `${because}; its attempt ended with: ${thrown}`,
  };
  return withRoom(held.message, { ...named, ...told, ...carried }, contract) as ReturnType<typeof lastWords>;
}

/** The error's message without its stack. Since the summary is cut and redacted, so is this. */
function messageIn(summary: string): string {
  const [said = ""] = summary.split(/\n\s+at /, 1);
  return said;
}
