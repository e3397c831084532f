import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { RetryTopology } from "redeliver/pulumi";

import retries from "../retries.ts";

// pulumi config set endpoint http://localhost:15672
// pulumi config set username guest
// pulumi config set --secret password guest
const config = new pulumi.Config();
const provider = new rabbitmq.Provider("broker", {
  endpoint: config.require("endpoint"),
  username: config.require("username"),
  password: config.requireSecret("password"),
});
export const { workQueues } = new RetryTopology(
  "retries",
  { system: retries, target: { broker: "rabbitmq", version: "4.3" } },
  { provider },
);
