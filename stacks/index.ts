import * as pulumi from "@pulumi/pulumi";

import { readStackConfig } from "../src/brokers/rabbitmq/make/index.ts";
import type { StackConfig } from "../src/brokers/rabbitmq/make/index.ts";
import { deployToRabbitmq } from "./rabbitmq.ts";
import { deployToServicebus } from "./servicebus.ts";
import { deployToSqs } from "./sqs.ts";

const config = readStackConfig(new pulumi.Config(), ["rabbitmq", "sqs", "servicebus"]);

function deploy(to: StackConfig<"rabbitmq" | "sqs" | "servicebus">) {
  switch (to.broker) {
    case "rabbitmq":
      return { deployed: deployToRabbitmq(to), target: `rabbitmq@${to.target.version}` };
    case "sqs":
      return { deployed: deployToSqs(to), target: `sqs@${to.target.region}` };
    case "servicebus":
      return { deployed: deployToServicebus(to), target: `servicebus@${to.target.sku}` };
    default:
      return to satisfies never;
  }
}

const { deployed, target } = deploy(config);

export const deployedTo: string = target;
export const { workQueues } = deployed;
