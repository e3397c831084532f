import rhea, { type Message } from "rhea";

import { decode } from "./content.ts";
import { swapGuidOrder } from "./lock-token.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Namespace } from "./namespace.ts";
import { lockLost, notFound, type Refusal, sessionLockLost, type Settlement } from "./settlement.ts";
import { delivered, statusOf, type StoredMessage } from "./stored-message.ts";

type Body = Readonly<Record<string, unknown>>;
type Answer = Pick<Message, "application_properties" | "body">;
type Operation = (request: { namespace: Namespace; path: string; mailbox: Mailbox; body: Body }) => Answer;

const { wrap_array, wrap_timestamp, wrap_uuid } = rhea.types;
const noToken = Buffer.alloc(16);
const [longCode, timestampCode] = [0x81, 0x83];

/**
 * The requests that a client can make about an entity. Source: "AMQP 1.0 in Microsoft Azure Service Bus:
 * request-response-based operations".
 */
const operations: Readonly<Record<string, Operation>> = {
  "schedule-message": ({ namespace, path, body }) => {
    const entries = body["messages"] as readonly { message: Buffer }[];
    const sent = entries.map(({ message }) => namespace.send(path, decode(message)));
    const refusal = sent.find((each) => "condition" in each);
    if (refusal !== undefined) return refused(400, refusal as Refusal);
    // A dropped duplicate has a number too, but no message has that number.
    const numbers = sent.map((each) => ("sequenceNumber" in each ? (each.sequenceNumber ?? 0) : 0));
    return done({ "sequence-numbers": wrap_array(numbers, longCode, undefined) });
  },
  "cancel-scheduled-message": ({ namespace, path, body }) => {
    const missing = numbersOf(body["sequence-numbers"]).filter((each) => !namespace.cancel(path, each));
    return missing.length === 0 ? done({}) : refused(404, notFound(missing));
  },
  "renew-lock": ({ mailbox, body }) => {
    const renewed = tokensOf(body["lock-tokens"]).map((token) => mailbox.renew(token));
    if (renewed.includes(null)) return refused(410, lockLost);
    return done({ expirations: wrap_array(renewed, timestampCode, undefined) });
  },
  "peek-message": ({ mailbox, body }) => {
    const from = numberOf(body["from-sequence-number"]);
    const session = body["session-id"] ?? null;
    const all = [...mailbox.messages.values()].toSorted((a, b) => a.sequenceNumber - b.sequenceNumber);
    const there = all.filter(
      ({ sequenceNumber, state }) =>
        sequenceNumber >= from && (session === null || state.content.sessionId === session),
    );
    const peeked = there.slice(0, Number(body["message-count"]));
    if (peeked.length === 0) return { application_properties: { statusCode: 204 }, body: {} };
    return done({ messages: peeked.map((message) => ({ message: encoded(message, mailbox) })) });
  },
  "receive-by-sequence-number": ({ mailbox, body }) => {
    const numbers = numbersOf(body["sequence-numbers"]);
    const mode = Number(body["receiver-settle-mode"]) === 0 ? "receive-and-delete" : "peek-lock";
    const received = mailbox.receiveDeferred(numbers, mode);
    if ("condition" in received) return refused(received === sessionLockLost ? 410 : 404, received);
    const messages = received.map((message) => ({
      "lock-token": wrap_uuid(message.lock === null ? noToken : swapGuidOrder(Buffer.from(message.lock.token, "hex"))),
      message: encoded(message, mailbox),
    }));
    return done({ messages });
  },
  "update-disposition": ({ mailbox, body }) => {
    const settlement = settlementOf(body);
    if (settlement === undefined) return notEmulated(`the disposition ${String(body["disposition-status"])}`);
    const refusals = tokensOf(body["lock-tokens"]).map((token) => mailbox.settle(token, settlement));
    const refusal = refusals.find((each) => each !== null);
    return refusal === undefined ? done({}) : refused(410, refusal);
  },
  "renew-session-lock": ({ mailbox, body }) => {
    mailbox.passTime();
    const untilMs = mailbox.sessions.renew(String(body["session-id"]));
    return untilMs === null ? refused(410, sessionLockLost) : done({ expiration: wrap_timestamp(untilMs) });
  },
  "set-session-state": ({ mailbox, body }) => {
    mailbox.sessions.states.set(String(body["session-id"]), (body["session-state"] ?? null) as Buffer | null);
    return done({});
  },
  "get-session-state": ({ mailbox, body }) =>
    done({ "session-state": mailbox.sessions.states.get(String(body["session-id"])) ?? null }),
};

export function manage(namespace: Namespace, path: string, operation: string, body: Body): Answer {
  const mailbox = namespace.mailboxAt(path);
  const perform = operations[operation.replace(/^com\.microsoft:/, "")];
  if (mailbox === undefined)
    return refused(404, {
      condition: "amqp:not-found",
      description: `The messaging entity '${path}' could not be found.`,
    });
  return perform === undefined ? notEmulated(operation) : perform({ namespace, path, mailbox, body });
}

function done(body: object): Answer {
  return { application_properties: { statusCode: 200, statusDescription: "OK" }, body };
}

function refused(statusCode: number, { condition, description }: Refusal): Answer {
  return {
    application_properties: { statusCode, statusDescription: description, errorCondition: condition },
    body: {},
  };
}

/** A test must not pass through a gap in the emulator. */
function notEmulated(what: string): Answer {
  return refused(501, { condition: "amqp:not-implemented", description: `The emulator does not know ${what}.` });
}

function settlementOf(body: Body): Settlement | undefined {
  const properties = (body["properties-to-modify"] ?? {}) as Readonly<Record<string, unknown>>;
  switch (body["disposition-status"]) {
    case "completed":
      return { kind: "complete" };
    case "abandoned":
      return { kind: "abandon", properties };
    case "defered":
      return { kind: "defer", properties };
    case "suspended": {
      const reason = (body["deadletter-reason"] ?? null) as string | null;
      const description = (body["deadletter-description"] ?? null) as string | null;
      return { kind: "dead-letter", reason, description, properties };
    }
    default:
      return undefined;
  }
}

function encoded(message: StoredMessage, mailbox: Mailbox): Buffer {
  const lockedUntilMs = statusOf(message) === "locked" ? mailbox.lockedUntilMs(message) : null;
  return rhea.message.encode(delivered(message, lockedUntilMs));
}

function tokensOf(tokens: unknown): readonly string[] {
  return (tokens as readonly Buffer[]).map((token) => swapGuidOrder(token).toString("hex"));
}

function numbersOf(numbers: unknown): readonly number[] {
  return (numbers as readonly (number | Buffer)[]).map(numberOf);
}

function numberOf(number: unknown): number {
  return Buffer.isBuffer(number) ? Number(number.readBigInt64BE()) : Number(number);
}
