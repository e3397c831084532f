import { isServiceBusError, type ServiceBusReceivedMessage, type ServiceBusReceiver } from "@azure/service-bus";

import type { Observation } from "../src/known-gaps.ts";
import type { Lab } from "../src/lab.ts";

/** Asks an emulator of its own about one claim. */
export interface Experiment {
  readonly run: (lab: Lab) => Promise<Observation>;
  /** The observation if the claim holds. */
  readonly shows: Observation;
}

export const showing = (shows: Observation, run: Experiment["run"]): Experiment => ({ shows, run });

/** Receives one message, which must exist. */
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

/** "accepted", or the SDK's words about the refusal. */
export async function answerTo(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return "accepted";
  } catch (error) {
    if (isServiceBusError(error)) return error.code;
    if ((error as Error).name === "AbortError") return "no answer";
    const { statusCode } = error as { readonly statusCode?: number };
    if (statusCode === undefined) throw error;
    return String(statusCode);
  }
}
