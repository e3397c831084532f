import type { Consuming } from "../../../consume/port/consuming.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { RabbitmqTargetInput } from "../compile/target.ts";
import { type RabbitmqConnection, connectionByAmqp091, connectionByAmqp10 } from "./connection.ts";
import { readAmqplibLetter, readRheaLetter } from "./dead-letter.ts";

export const consuming: Consuming<RabbitmqCompiled, RabbitmqTargetInput, RabbitmqConnection> = Object.freeze({
  libraries: Object.freeze({
    "amqp-0-9-1": {
      name: "amqplib",
      connection: connectionByAmqp091,
      load: async () => (await import("./amqp-0-9-1/adapter.ts")).adapter,
    },
    "amqp-1.0": {
      name: "rhea",
      connection: connectionByAmqp10,
      load: async () => (await import("./amqp-1-0/adapter.ts")).adapter,
    },
  }),
  letterReaders: Object.freeze([readAmqplibLetter, readRheaLetter]),
  messagingSystem: "rabbitmq",
});
