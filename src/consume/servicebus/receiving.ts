import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusSessionReceiver,
} from "@azure/service-bus";

import type { SessionListener } from "../adapter.ts";
import type { Contract } from "./contract.ts";
import type { MessageEnd } from "./settling.ts";

/** How messages come in. */
export interface Receiving {
  readonly resume: () => void;
  /** Resolves when no more messages come. */
  readonly pause: () => Promise<void>;
  /** Asks for nothing any more: the connection is gone, and the SDK would make another one for whoever asks. */
  readonly end: () => void;
}

export interface ReceivingInput {
  readonly client: ServiceBusClient;
  readonly contract: Contract;
  readonly concurrency: number;
  readonly listener: SessionListener;
  /** Resolves when the message is settled, or not ours any more. */
  readonly received: (
    receiver: ServiceBusReceiver | ServiceBusSessionReceiver,
    message: ServiceBusReceivedMessage,
  ) => Promise<MessageEnd>;
}

/** Bodies and properties as they were sent: a copy has to be the same. */
export const asSent = { skipParsingBodyAsJson: true, skipConvertingDate: true } as const;
