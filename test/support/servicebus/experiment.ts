import type { ServiceBusReceivedMessage, ServiceBusReceiver } from "@azure/service-bus";
import { isServiceBusError } from "@azure/service-bus";

import type { Lab } from "./lab.ts";

/** What an experiment sees: JSON, so that it can be compared and shown. */
export type Observation =
  | string
  | number
  | boolean
  | null
  | readonly Observation[]
  | { readonly [key: string]: Observation };

/** Asks an emulator of its own about one claim. */
export interface Experiment {
  readonly run: (lab: Lab) => Promise<Observation>;
  /** What it sees where the claim holds. */
  readonly shows: Observation;
}

/** Receives one message, and there has to be one. */
export async function receiveOne(lab: Lab, from: string | ServiceBusReceiver): Promise<ServiceBusReceivedMessage> {
  const [message] = await lab.receive(from);
  if (message === undefined) throw new Error("one was received");
  return message;
}

export async function send(lab: Lab, to: string, ...bodies: readonly string[]): Promise<void> {
  await lab.client.createSender(to).sendMessages(bodies.map((body) => ({ body, messageId: body })));
}

export async function bodiesIn(lab: Lab, path: string): Promise<readonly string[]> {
  return (await lab.peek(path)).map(({ body }) => String(body));
}

export async function reasonsIn(lab: Lab, queue: string): Promise<readonly string[]> {
  return (await lab.deadLetters(queue)).map(({ deadLetterReason }) => deadLetterReason ?? "none");
}

/** "accepted", or what the SDK says of the refusal. */
export async function answerTo(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return "accepted";
  } catch (error) {
    if (isServiceBusError(error)) return error.code;
    const { statusCode } = error as { readonly statusCode?: number };
    if (statusCode === undefined) throw error;
    return String(statusCode);
  }
}
