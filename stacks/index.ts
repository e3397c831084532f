import * as pulumi from "@pulumi/pulumi";

import { readStackConfig } from "../src/deploy/index.ts";
import { deployToRabbitmq } from "./rabbitmq.ts";
import { deployToSqs } from "./sqs.ts";

const config = readStackConfig(new pulumi.Config(), ["rabbitmq", "sqs"]);
const deployed = config.broker === "sqs" ? deployToSqs(config) : deployToRabbitmq(config);

export const deployedTo: string =
  config.broker === "sqs" ? `sqs@${config.target.region}` : `rabbitmq@${config.target.version}`;
export const { contracts, workQueues } = deployed;
