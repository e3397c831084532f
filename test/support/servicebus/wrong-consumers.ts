import { setImmediate as nextTurn } from "node:timers/promises";

import type { ServiceBusClient, ServiceBusMessage, ServiceBusReceivedMessage } from "@azure/service-bus";

/** The end of an attempt by its handler. */
type EndsPlainly = (body: string, attempt: number) => "success" | "transient" | "permanent" | "return";

/** The code of a consumer written by hand, once correct and then with one mistake each. */
interface Ways {
  readonly receive: "peekLock" | "receiveAndDelete";
  readonly success: "complete" | "abandon" | "nothing";
  readonly transient:
    | "copy, then complete"
    | "complete, then copy"
    | "both at once"
    | "copy"
    | "complete"
    | "abandon"
    | "dead-letter";
  readonly permanent: "dead-letter" | "complete" | "abandon" | "without reason" | "without description";
  readonly copy:
    | "right"
    | "with the same id"
    | "without the attempt"
    | "with the same attempt"
    | "without the original id"
    | "without its properties"
    | "with a time to live"
    | "at once"
    | "too late"
    | "to the topic";
}

const right: Ways = {
  receive: "peekLock",
  success: "complete",
  transient: "copy, then complete",
  permanent: "dead-letter",
  copy: "right",
};

/** By the name of the mistake. */
export const handWritten: Readonly<Record<string, Ways>> = {
  "none at all": right,
  "messages are received and deleted in one": { ...right, receive: "receiveAndDelete" },
  "a message that is done is left": { ...right, success: "nothing" },
  "a message that is done is abandoned": { ...right, success: "abandon" },
  "a message is completed before it is copied": { ...right, transient: "complete, then copy" },
  "the consumer does not wait for the copy": { ...right, transient: "both at once" },
  "a message is copied and left": { ...right, transient: "copy" },
  "a failed message is completed": { ...right, transient: "complete" },
  "a failed message is abandoned": { ...right, transient: "abandon" },
  "a failed message is dead-lettered": { ...right, transient: "dead-letter" },
  "a permanent failure is completed": { ...right, permanent: "complete" },
  "a permanent failure is tried again": { ...right, permanent: "abandon" },
  "a dead letter has no reason": { ...right, permanent: "without reason" },
  "a dead letter has no description": { ...right, permanent: "without description" },
  "a copy has the id of the original": { ...right, copy: "with the same id" },
  "a copy does not say which attempt it is": { ...right, copy: "without the attempt" },
  "a copy says the attempt that has failed": { ...right, copy: "with the same attempt" },
  "a copy does not name its original": { ...right, copy: "without the original id" },
  "a copy has none of the properties": { ...right, copy: "without its properties" },
  "a copy has a time to live": { ...right, copy: "with a time to live" },
  "a copy is due at once": { ...right, copy: "at once" },
  "a copy is due too late": { ...right, copy: "too late" },
  "a copy goes to everybody": { ...right, copy: "to the topic" },
};

export interface Place {
  readonly client: ServiceBusClient;
  readonly queue: string;
  readonly topic: string;
  readonly delayMs: number;
}

/** Receives this many first attempts, and handles them. */
export async function handleAll(place: Place, ways: Ways, ended: EndsPlainly, count: number): Promise<void> {
  const receiver = place.client.createReceiver(place.queue, { receiveMode: ways.receive, skipParsingBodyAsJson: true });
  for (let handled = 0; handled < count; handled += 1) {
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 60_000 });
    if (message === undefined) throw new Error("a message did not come");
    const settle = {
      complete: () => receiver.completeMessage(message),
      abandon: () => receiver.abandonMessage(message),
      deadLetter: (words: object) => receiver.deadLetterMessage(message, words as never),
      copy: () => sendCopy(place, ways.copy, message),
    };
    const steps = stepsOf(settle, ways, ended(String(message.body), 1));
    // Service Bus may refuse a mistake. The attempt counts all the same.
    for (const step of steps) await step().catch(() => undefined);
    await nextTurn();
  }
  await receiver.close();
}

type Step = () => Promise<unknown>;

function stepsOf(
  settle: {
    readonly complete: Step;
    readonly abandon: Step;
    readonly copy: Step;
    readonly deadLetter: (words: object) => Promise<unknown>;
  },
  ways: Ways,
  outcome: ReturnType<EndsPlainly>,
): readonly Step[] {
  const { complete, abandon, copy, deadLetter } = settle;
  const [reason, description] = [{ deadLetterReason: "PERMANENT_FAILURE" }, { deadLetterErrorDescription: "no" }];
  const steps: Readonly<Record<Ways["success"] | Ways["transient"] | Ways["permanent"], readonly Step[]>> = {
    complete: [complete],
    abandon: [abandon],
    nothing: [],
    copy: [copy],
    "copy, then complete": [copy, complete],
    "complete, then copy": [complete, copy],
    "both at once": [() => Promise.all([copy(), complete()])],
    "dead-letter": [() => deadLetter({ ...reason, ...description })],
    "without reason": [() => deadLetter(description)],
    "without description": [() => deadLetter(reason)],
  };
  if (outcome === "success") return steps[ways.success];
  return steps[outcome === "permanent" ? ways.permanent : ways.transient];
}

async function sendCopy(place: Place, way: Ways["copy"], message: ServiceBusReceivedMessage): Promise<void> {
  const id = String(message.messageId);
  const own = way === "without its properties" ? {} : message.applicationProperties;
  const copy: ServiceBusMessage = {
    body: message.body as Buffer,
    messageId: way === "with the same id" ? id : `${id}:r2`,
    ...(message.subject === undefined ? {} : { subject: message.subject }),
    applicationProperties: {
      ...own,
      ...(way === "without the attempt" ? {} : { "redeliver-attempt": way === "with the same attempt" ? 1 : 2 }),
      ...(way === "without the original id" ? {} : { "redeliver-original-id": id }),
    },
    ...(way === "with a time to live" ? { timeToLive: 60_000 } : {}),
  };
  const delays: Partial<Record<Ways["copy"], number>> = { "at once": 1, "too late": place.delayMs + 60_000 };
  const sender = place.client.createSender(way === "to the topic" ? place.topic : place.queue);
  await sender.scheduleMessages(copy, new Date(Date.now() + (delays[way] ?? place.delayMs)));
}
