import * as pulumi from "@pulumi/pulumi";

import { readStackConfig } from "../src/brokers/rabbitmq/make/index.ts";
import type { StackConfig } from "../src/brokers/rabbitmq/make/index.ts";
import { fromProject } from "./project.ts";
import { deployToRabbitmq } from "./rabbitmq.ts";
import { deployToServicebus } from "./servicebus.ts";
import { deployToSqs } from "./sqs.ts";

const project = await fromProject(pulumi.getStack());
const config = readStackConfig(new pulumi.Config(), ["rabbitmq", "sqs", "servicebus"], project?.target);

function deploy(to: StackConfig<"rabbitmq" | "sqs" | "servicebus">) {
  switch (to.broker) {
    case "rabbitmq":
      return { deployed: deployToRabbitmq(to, project?.deployable), target: `rabbitmq@${to.target.version}` };
    case "sqs":
      return { deployed: deployToSqs(to, project?.deployable), target: `sqs@${to.target.region}` };
    case "servicebus":
      return { deployed: deployToServicebus(to, project?.deployable), target: `servicebus@${to.target.sku}` };
    default:
      return to satisfies never;
  }
}

const { deployed, target } = deploy(config);

export const deployedTo: string = target;
export const { workQueues } = deployed;
