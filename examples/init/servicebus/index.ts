import * as pulumi from "@pulumi/pulumi";
import { ServicebusRetryTopology } from "redeliver/pulumi/servicebus";

import retries from "../retries.ts";

// pulumi config set namespaceId /subscriptions/…/Microsoft.ServiceBus/namespaces/…
// The namespace has to exist. The credentials are those of the Azure CLI.
const config = new pulumi.Config();
export const { workQueues } = new ServicebusRetryTopology("retries", {
  system: retries,
  target: { broker: "servicebus", sku: "standard" },
  namespaceId: config.require("namespaceId"),
});
