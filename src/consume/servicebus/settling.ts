import type {
  DeadLetterOptions,
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusSender,
  ServiceBusSessionReceiver,
} from "@azure/service-bus";

import type { SettleValues } from "../adapter.ts";
import { NotOursError } from "../adapter.ts";
import { inTime } from "../long-timer.ts";
import { answerWithinMs, codeOf } from "./client.ts";
import type { Contract, DeadLetterOperation, Operation, SendOperation } from "./contract.ts";
import { chosenMs } from "./contract.ts";
import { copyMessage } from "./copy-message.ts";
import type { OnePerTurn } from "./one-per-turn.ts";

/** How a message left our hands. */
export type MessageEnd = "settled" | "not-ours";

/** A message that the broker keeps locked for us. */
export interface HeldMessage {
  readonly message: ServiceBusReceivedMessage;
  readonly receiver: ServiceBusReceiver | ServiceBusSessionReceiver;
  /** The id that its copies are made from. */
  readonly originalId: string;
  /** Called once, when it is settled or not ours any more. */
  readonly over: (end: MessageEnd) => void;
  /** What is done of the operations that have begun, so that one that is tried again makes no second copy. */
  begun: { readonly operations: readonly Operation[]; done: number } | null;
  /** From the first word about it to Service Bus on its lock is renewed no more. Null until then. */
  lockedUntilMs: number | null;
}

/** What settlements go through. */
export interface Settling {
  readonly contract: Contract;
  readonly onePerTurn: OnePerTurn;
  readonly senderTo: (queue: string) => ServiceBusSender;
}

export function createSettling(client: ServiceBusClient, contract: Contract, onePerTurn: OnePerTurn): Settling {
  const senders = new Map<string, ServiceBusSender>();
  return {
    contract,
    onePerTurn,
    senderTo: (queue) => {
      const sender = senders.get(queue) ?? client.createSender(queue);
      senders.set(queue, sender);
      return sender;
    },
  };
}

/**
 * Does the operations in order, each when Service Bus has answered the one before.
 *
 * @throws NotOursError where the lock is lost
 */
export async function settle(
  settling: Settling,
  held: HeldMessage,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> {
  const begun = held.begun?.operations === operations ? held.begun : { operations, done: 0 };
  held.begun = begun;
  try {
    for (const operation of operations.slice(begun.done)) {
      await perform(settling, held, operation, values);
      begun.done += 1;
    }
  } catch (error) {
    if (!isNotOurs(error) && !isLockOver(held)) throw error;
    held.over("not-ours");
    throw new NotOursError(error);
  }
  held.over("settled");
}

/**
 * A settlement that nobody answers may be done or not. It is said again for as long as the message is ours for certain, and not for ever: who has
 * settled a message knows nothing of it any more and stays silent, and each such message would keep a handler's place.
 */
function isLockOver({ lockedUntilMs }: HeldMessage): boolean {
  return lockedUntilMs !== null && performance.now() >= lockedUntilMs;
}

/** A lock that has run out, a session that somebody else holds, or a message that was settled before a lost answer came. */
function isNotOurs(error: unknown): boolean {
  return ["MessageLockLost", "SessionLockLost", "MessageNotFound"].includes(codeOf(error) ?? "");
}

async function perform(
  { contract, onePerTurn, senderTo }: Settling,
  held: HeldMessage,
  operation: Operation,
  values: SettleValues,
): Promise<void> {
  const { message, receiver, originalId } = held;
  // The SDK renews the lock of no message that is being settled. Source: 7.9.5, `MessageReceiver.settleMessage`.
  if (!("queue" in operation)) held.lockedUntilMs ??= performance.now() + contract.receive.lockMs;
  switch (operation.operation) {
    case "complete":
      return answered(onePerTurn(() => receiver.completeMessage(message)));
    case "abandon":
      return answered(onePerTurn(() => receiver.abandonMessage(message, changesOf(values))));
    case "release":
      return answered(onePerTurn(() => release(receiver, message)));
    case "closeSession":
      return receiver.close();
    case "deadLetter":
      return answered(onePerTurn(() => receiver.deadLetterMessage(message, lastWords(operation, values))));
    case "schedule": {
      const copy = copyMessage(message, originalId, operation, values.carried, contract);
      await senderTo(operation.queue).scheduleMessages(copy, dueAt(operation, values));
      return undefined;
    }
    case "send":
      return senderTo(operation.queue).sendMessages(
        copyMessage(message, originalId, operation, values.carried, contract),
      );
    default:
      return operation satisfies never;
  }
}

/**
 * The SDK has no word for it, so its abandon is said with AMQP's other outcome. Where a later SDK has no delivery to say it with, it stays an abandon.
 * Source: 7.9.5, `MessageReceiver.settleMessage`.
 */
function release(receiver: HeldMessage["receiver"], message: ServiceBusReceivedMessage): Promise<void> {
  const { delivery } = message as { readonly delivery?: { readonly release: () => void; modified: () => void } };
  if (delivery !== undefined) delivery.modified = () => delivery.release();
  return receiver.abandonMessage(message);
}

/** Application properties that an abandon sets on the message, which comes again with them. None where nobody has anything to say. */
function changesOf({ carried }: SettleValues): Parameters<ServiceBusReceiver["abandonMessage"]>[1] {
  return Object.keys(carried).length === 0 ? undefined : carried;
}

/** Messages of sessions wait a minute for it, whatever the client was told. Source: 7.9.5, `MessageSession.settleMessage`. */
function answered(settlement: Promise<void>): Promise<void> {
  const silent = (): Error => new Error("Service Bus has not said whether the message is settled");
  return inTime(answerWithinMs, settlement, silent, null);
}

function dueAt({ delayMs = { from: 0, to: 0 } }: SendOperation, { askedDelayMs }: SettleValues): Date {
  return new Date(Date.now() + chosenMs(delayMs, askedDelayMs));
}

/** Application properties of the dead letter, beside the two that Service Bus has names for. */
function lastWords(
  { reason }: DeadLetterOperation,
  { deadLetter, carried }: SettleValues,
): DeadLetterOptions & Record<string, string> {
  const told = { "dlq-failure-reason": reason, ...deadLetter };
  return {
    ...told,
    ...carried,
    deadLetterReason: told["dlq-failure-reason"],
    deadLetterErrorDescription: messageIn(deadLetter?.["dlq-exception-stack-trace-summary"] ?? ""),
  };
}

/** What the error says, without where it came from. The summary is cut and redacted, and so is this. */
function messageIn(summary: string): string {
  const [said = ""] = summary.split(/\n\s+at /, 1);
  return said;
}
