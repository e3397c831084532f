import type { z } from "zod";

import type { BrokerName } from "../brokers/index.ts";
import type { Adapter } from "./adapter.ts";
import type { AnyContract } from "./contract.ts";
import { connectionByAmqp091, connectionByAmqp10 } from "./rabbitmq/connection.ts";
import type { RabbitmqConnection } from "./rabbitmq/connection.ts";
import { servicebusConnection } from "./servicebus/connection.ts";
import type { ServicebusConnection } from "./servicebus/connection.ts";
import { sqsConnection } from "./sqs/connection.ts";
import type { SqsConnection } from "./sqs/connection.ts";

/** How each broker is reached. */
interface Connections {
  readonly rabbitmq: RabbitmqConnection;
  readonly servicebus: ServicebusConnection;
  readonly sqs: SqsConnection;
}

/** The brokers that messages can be consumed from. */
export type ConsumableName = BrokerName & keyof Connections;
export type ConnectionOf<Name extends BrokerName> = Name extends keyof Connections ? Connections[Name] : never;

export interface AdapterEntry {
  /** What a user may say of the connection. */
  readonly connection: z.ZodType;
  /** The npm package that has to be installed beside Redeliver. */
  readonly library: string;
  readonly load: () => Promise<Adapter>;
}

/** The adapter of each protocol that a contract can be for. None is loaded, nor its client library, before it is needed. */
export const adapters: Readonly<Partial<Record<AnyContract["protocol"], AdapterEntry>>> = {
  "amqp-0-9-1": {
    connection: connectionByAmqp091,
    library: "amqplib",
    load: async () => (await import("./rabbitmq/amqplib.ts")).amqplibAdapter as unknown as Adapter,
  },
  "amqp-1.0": {
    connection: connectionByAmqp10,
    library: "rhea",
    load: async () => (await import("./rabbitmq/rhea.ts")).rheaAdapter as unknown as Adapter,
  },
  servicebus: {
    connection: servicebusConnection,
    library: "@azure/service-bus",
    load: async () => (await import("./servicebus/service-bus.ts")).serviceBusAdapter as unknown as Adapter,
  },
  sqs: {
    connection: sqsConnection,
    library: "@aws-sdk/client-sqs",
    load: async () => (await import("./sqs/sqs-client.ts")).sqsClientAdapter as unknown as Adapter,
  },
};
