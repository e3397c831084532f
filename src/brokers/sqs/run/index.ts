import type { Consuming } from "../../../consume/port/consuming.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { SqsCompiled } from "../compile/compile.ts";
import type { SqsTargetInput } from "../compile/target.ts";
import { type SqsConnection, sqsConnection } from "./connection.ts";
import { readSqsLetter } from "./dead-letter.ts";

export const consuming: Consuming<SqsCompiled, SqsTargetInput, SqsConnection> = Object.freeze({
  libraries: Object.freeze({
    sqs: {
      name: "@aws-sdk/client-sqs",
      connection: sqsConnection,
      load: async () => (await import("./adapter.ts")).adapter,
    },
  }),
  letterReaders: Object.freeze([readSqsLetter]),
  messagingSystem: "aws_sqs",
  // Lambda and this program would share the queue: each would get a part of the messages, and handle it with different
  // code.
  refusalOf: ({ consumer, lambda }) =>
    lambda === undefined
      ? null
      : diagnostic("RD809", {
          path: ["target", "lambda", consumer],
          message: `${consumer} is a function of Lambda, which receives its messages`,
          help: `take it out of the target's lambda and deploy, or leave the messages to the function: for the answers of its handler, see redeliver contract FILE ${consumer}`,
        }),
} satisfies Consuming<SqsCompiled, SqsTargetInput, SqsConnection>);
