import type { Consuming } from "../../../consume/port/consuming.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import type { ServicebusTargetInput } from "../compile/target.ts";
import { type ServicebusConnection, servicebusConnection } from "./connection.ts";
import { readServicebusLetter } from "./dead-letter.ts";

export const consuming: Consuming<ServicebusCompiled, ServicebusTargetInput, ServicebusConnection> = Object.freeze({
  libraries: Object.freeze({
    servicebus: {
      name: "@azure/service-bus",
      connection: servicebusConnection,
      load: async () => (await import("./adapter.ts")).adapter,
    },
  }),
  letterReaders: Object.freeze([readServicebusLetter]),
  messagingSystem: "servicebus",
});
