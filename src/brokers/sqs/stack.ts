import { z } from "zod";

import { type StackKeys, option, text } from "../stack-keys.ts";

/** The configuration of a stack that deploys to SQS. AWS has a chain of its own for account and credentials. */
export const stack = Object.freeze({
  component: "SqsRetryTopology from redeliver/pulumi/sqs",
  hasPassword: false,
  target: {
    region: text,
    strategy: text.optional(),
    strategies: option,
    partition: option,
    account: option,
    kmsKey: option,
    tags: option,
    emptiedDeadQueues: option,
    lambda: option,
    deadQueue: option,
  },
  others: {
    /** The origin of the names at AWS; the default is the declaration. */
    naming: z.enum(["explicit", "automatic"]).exactOptional(),
  },
  howTo: {
    target: "write target as a mapping, for example { broker: sqs, region: eu-west-1 }",
    "target.region": "write a region, for example region: eu-west-1",
    naming: "write explicit or automatic, or leave it out for explicit",
  },
  problemOf: () => null,
} satisfies StackKeys);
