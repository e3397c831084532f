import { SqsRetryTopology } from "redeliver/pulumi/sqs";

import retries from "../retries.ts";

// The credentials are those of the AWS CLI.
export const { workQueues } = new SqsRetryTopology("retries", {
  system: retries,
  target: { broker: "sqs", region: "eu-west-1" },
});
