import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { partOf } from "./client.ts";

type ServicebusContract = Extract<Contract, { readonly protocol: "servicebus" }>;

const names = [
  "workQueue",
  "outcomes",
  "retryAfter",
  "attemptNumber",
  "receive",
  "longestMessageId",
  "permanentErrors",
];

/** What is done with one message, whether it came in a session or not. */
const judging = `/** Throw it where the delay is known, for example from a Retry-After header. */
export class RetryAfter extends Error {
  constructor(delayMs) {
    super(\`retry after \${delayMs} ms\`);
    this.delayMs = delayMs;
  }
}

/** Throw it where the message was not tried, for example at a shutdown. */
export class HandBack extends Error {}

/** The names of an error and of everything that it was thrown from; a chain that is longer is a ring. */
function namesOf(error, left = 20) {
  if (!(error instanceof Error) || left === 0) return [];
  return [error.name, error.constructor.name, ...namesOf(error.cause, left - 1)];
}

function attemptOf(message) {
  const { attemptNumber } = CONTRACT;
  if (attemptNumber.from === "delivery-count") return (message.deliveryCount ?? 0) + 1;
  return Number(message.applicationProperties?.[attemptNumber.attempt] ?? 1);
}

function outcomeOf(error) {
  const { outcomes, retryAfter = [], permanentErrors } = CONTRACT;
  if (error === undefined) return outcomes.success;
  if (error instanceof HandBack) return outcomes.return;
  const step = retryAfter.find(({ upToMs }) => error instanceof RetryAfter && upToMs >= error.delayMs);
  if (step !== undefined) return step;
  return namesOf(error).some((name) => permanentErrors.includes(name)) ? outcomes.permanent : outcomes.transient;
}

/** The id of the message that was published; one without an id is known by its number. */
function originalIdOf({ applicationProperties, messageId, sequenceNumber }) {
  const known = applicationProperties?.["redeliver-original-id"] ?? messageId ?? "";
  return String(known) === "" ? \`sequence-number:\${sequenceNumber}\` : String(known);
}

function copyIdOf(originalId, suffix) {
  const id = originalId + suffix;
  return id.length <= CONTRACT.longestMessageId ? id : createHash("sha256").update(originalId).digest("hex") + suffix;
}

/** The whole message but for what the contract names. It has no time to live. */
function copyOf(message, { messageIdSuffix, applicationProperties, removeApplicationProperties }) {
  const own = message.applicationProperties ?? {};
  const originalId = originalIdOf(message);
  const kept = Object.entries(own).filter(([name]) => !removeApplicationProperties.includes(name));
  const { body, subject, contentType, correlationId, partitionKey, replyTo, replyToSessionId, to } = message;
  return {
    ...{ body, subject, contentType, correlationId, partitionKey, replyTo, replyToSessionId, to },
    messageId: copyIdOf(originalId, messageIdSuffix),
    applicationProperties: {
      ...Object.fromEntries(kept),
      ...applicationProperties,
      "redeliver-original-id": originalId,
    },
  };
}

function dueAt(wanted, askedMs) {
  const delayMs = wanted === "asked" ? askedMs : wanted.from + Math.random() * (wanted.to - wanted.from);
  return new Date(Date.now() + Math.ceil(delayMs));
}

async function send(client, message, operation, askedMs) {
  const sender = client.createSender(operation.queue);
  const copy = copyOf(message, operation);
  if (operation.operation === "send") await sender.sendMessages(copy);
  else await sender.scheduleMessages(copy, dueAt(operation.delayMs, askedMs));
  await sender.close();
}

/** The client's abandon, said with AMQP's outcome \`released\`, for which it has no method. */
async function release(receiver, message) {
  message.delivery.modified = () => message.delivery.release();
  await receiver.abandonMessage(message);
}

/**
 * Runs the handler once, and does the operations of its outcome: each when Service Bus has answered the one before. Says whether a session is kept; one
 * that is closed gives back what is not settled.
 */
async function settle(client, receiver, message, handle) {
  const attempt = attemptOf(message);
  let error;
  try {
    await handle(message.body, attempt);
  } catch (thrown) {
    error = thrown ?? new Error("nothing was thrown");
  }
  const outcome = outcomeOf(error);
  for (const operation of outcome.byAttempt?.[Math.min(attempt, outcome.byAttempt.length) - 1] ?? outcome) {
    if (operation.operation === "complete") await receiver.completeMessage(message);
    else if (operation.operation === "abandon") await receiver.abandonMessage(message);
    else if (operation.operation === "release") await release(receiver, message);
    else if (operation.operation === "closeSession") return false;
    else if (operation.operation === "deadLetter") {
      const deadLetterErrorDescription = String(error).slice(0, 4096);
      await receiver.deadLetterMessage(message, { deadLetterReason: operation.reason, deadLetterErrorDescription });
    } else await send(client, message, operation, error.delayMs);
  }
  return true;
}`;

/** Microsoft's client for JavaScript, one message after the other. */
export function serviceBusJavascript(contract: ServicebusContract): Client {
  const { sessions, lockMs } = contract.receive;
  return {
    title: "JavaScript, @azure/service-bus",
    evidence:
      "Run by Redeliver's tests with @azure/service-bus 7.9 against the emulator that they start; not run on Azure.",
    text: [
      "A module: `run(connectionString, handle, signal)` calls `handle(body, attempt)`, an async function, with one message after the other, until the signal is aborted. The body is bytes. What Service Bus does not take rejects, and nothing is completed before its copy is there: close the process and let it be started again; the message comes back when its lock is over.",
      ...(sessions
        ? []
        : [
            `More messages at a time need care: two settlements in one turn of the event loop can become one outcome below this SDK. A lock that is not renewed is over after ${lockMs / 1_000} s.`,
          ]),
    ],
    code: [
      {
        language: "js",
        text: `import { createHash } from "node:crypto";

import { ServiceBusClient } from "@azure/service-bus";

const CONTRACT = ${partOf(contract, names)};

${judging}

${sessions ? runInSessions(contract) : runOnQueue(contract)}`,
      },
    ],
  };
}

/** The arguments that name a queue or a subscription. */
function entityOf({ workQueue }: ServicebusContract): string {
  return workQueue
    .split("/Subscriptions/")
    .map((name) => JSON.stringify(name))
    .join(", ");
}

function runOnQueue(contract: ServicebusContract): string {
  return `export async function run(connectionString, handle, signal) {
  const client = new ServiceBusClient(connectionString);
  const receiver = client.createReceiver(${entityOf(contract)}, {
    maxAutoLockRenewalDurationInMs: CONTRACT.receive.lockRenewalMs,
    skipParsingBodyAsJson: true,
  });
  try {
    while (!signal?.aborted) {
      for (const message of await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 }))
        await settle(client, receiver, message, handle);
    }
  } finally {
    await client.close();
  }
}`;
}

function runInSessions(contract: ServicebusContract): string {
  return `/** The next session that has messages; none where there is no such session for a while, or the signal is aborted. */
async function acceptSession(client, signal) {
  try {
    return await client.acceptNextSession(${entityOf(contract)}, {
      maxAutoLockRenewalDurationInMs: CONTRACT.receive.lockRenewalMs,
      skipParsingBodyAsJson: true,
      abortSignal: signal,
    });
  } catch (error) {
    if (error.code === "ServiceTimeout" || signal?.aborted) return null;
    throw error;
  }
}

export async function run(connectionString, handle, signal) {
  const client = new ServiceBusClient(connectionString);
  try {
    while (!signal?.aborted) {
      const receiver = await acceptSession(client, signal);
      if (receiver === null) continue;
      while (!signal?.aborted) {
        const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 });
        if (message === undefined || !(await settle(client, receiver, message, handle))) break;
      }
      await receiver.close();
    }
  } finally {
    await client.close();
  }
}`;
}
