import { createHash } from "node:crypto";

import { ServiceBusClient } from "@azure/service-bus";

const CONTRACT = {
  "workQueue": "shop.orders/Subscriptions/billing",
  "outcomes": {
    "success": [{"operation": "complete"}],
    "transient": [{"operation": "abandon"}],
    "permanent": [{"operation": "deadLetter", "reason": "PERMANENT_FAILURE", "description": "error-message"}],
    "return": [{"operation": "closeSession"}]
  },
  "attemptNumber": {"from": "delivery-count"},
  "longestMessageId": 128,
  "receive": {"mode": "peekLock", "sessions": true, "lockRenewalMs": 2073600000, "lockMs": 60000},
  "permanentErrors": ["ValidationError"]
};

/** Throw it where the delay is known, for example from a Retry-After header. */
export class RetryAfter extends Error {
  constructor(delayMs) {
    super(`retry after ${delayMs} ms`);
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
  return String(known) === "" ? `sequence-number:${sequenceNumber}` : String(known);
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
    body,
    subject,
    contentType,
    correlationId,
    partitionKey,
    replyTo,
    replyToSessionId,
    to,
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
  // The clock rounds down.
  return new Date(Date.now() + 1 + Math.ceil(delayMs));
}

/** Says whether Service Bus has taken the copy: one that is too large it never takes. */
async function send(client, message, operation, askedMs) {
  const sender = client.createSender(operation.queue);
  const copy = copyOf(message, operation);
  if (operation.operation === "schedule") copy.scheduledEnqueueTimeUtc = dueAt(operation.delayMs, askedMs);
  try {
    await sender.sendMessages(copy);
    return true;
  } catch (refused) {
    if (refused.code === "MessageSizeExceeded") return false;
    throw refused;
  } finally {
    await sender.close();
  }
}

async function deadLetter(receiver, message, { reason }, error) {
  const deadLetterErrorDescription = String(error).slice(0, 4096);
  await receiver.deadLetterMessage(message, { deadLetterReason: reason, deadLetterErrorDescription });
}

/** The client's abandon, said with AMQP's outcome `released`, for which it has no method. */
async function release(receiver, message) {
  message.delivery.modified = () => message.delivery.release();
  await receiver.abandonMessage(message);
}

/**
 * Runs the handler once, and does the operations of its outcome: each when Service Bus has answered the one before.
 * Says whether a session is kept; one that is closed gives back what is not settled.
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
    else if (operation.operation === "deadLetter") await deadLetter(receiver, message, operation, error);
    else if (!(await send(client, message, operation, error.delayMs))) {
      await deadLetter(receiver, message, operation.ifTooLarge, error);
      break;
    }
  }
  return true;
}

/** A queue, or a topic and its subscription. */
const entity = CONTRACT.workQueue.split("/Subscriptions/");
const options = { maxAutoLockRenewalDurationInMs: CONTRACT.receive.lockRenewalMs, skipParsingBodyAsJson: true };

async function runOnQueue(client, handle, signal) {
  const receiver = client.createReceiver(...entity, options);
  while (!signal?.aborted) {
    for (const message of await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 }))
      await settle(client, receiver, message, handle);
  }
}

/** The next session that has messages; none where there is no such session for a while, or the signal is aborted. */
async function acceptSession(client, signal) {
  try {
    return await client.acceptNextSession(...entity, { ...options, abortSignal: signal });
  } catch (error) {
    if (error.code === "ServiceTimeout" || signal?.aborted) return null;
    throw error;
  }
}

async function runInSessions(client, handle, signal) {
  while (!signal?.aborted) {
    const receiver = await acceptSession(client, signal);
    if (receiver === null) continue;
    while (!signal?.aborted) {
      const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 });
      if (message === undefined || !(await settle(client, receiver, message, handle))) break;
    }
    await receiver.close();
  }
}

export async function run(connectionString, handle, signal) {
  const client = new ServiceBusClient(connectionString);
  try {
    await (CONTRACT.receive.sessions ? runInSessions : runOnQueue)(client, handle, signal);
  } finally {
    await client.close();
  }
}
