import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusSessionReceiver,
} from "@azure/service-bus";

import type { FeedListener } from "../../../consume/port/adapter.ts";
import type { Contract } from "../compile/contract.ts";
import type { MessageEnd } from "./settling.ts";

export interface Receiving {
  readonly resume: () => void;
  /** Resolves when no more messages come. */
  readonly pause: () => Promise<void>;
  /** Asks for nothing any more: the connection is gone, and the SDK would make another one for each request. */
  readonly end: () => void;
}

export interface ReceivingInput {
  readonly client: ServiceBusClient;
  readonly contract: Contract;
  readonly concurrency: number;
  readonly listener: FeedListener;
  /** Resolves when the message is settled or no longer ours. */
  readonly received: (
    receiver: ServiceBusReceiver | ServiceBusSessionReceiver,
    message: ServiceBusReceivedMessage,
  ) => Promise<MessageEnd>;
}

/** Keeps bodies and properties as they were sent, because a copy must equal its message. */
export const asSent = { skipParsingBodyAsJson: true, skipConvertingDate: true } as const;
