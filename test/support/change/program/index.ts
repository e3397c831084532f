import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { RetryTopology } from "../../../../src/brokers/rabbitmq/make/index.ts";
import type { Deployment } from "../registered.ts";

interface Change extends Deployment {
  readonly endpoint: string;
  readonly user: string;
  readonly password: string;
  /** An import knows only the default provider, which reads the environment. */
  readonly imported?: true;
}

const change = JSON.parse(readFileSync(process.env["REDELIVER_CHANGE"] ?? "", "utf8")) as Change;
const { component, vhost, system, version, strategy, strategies, since, deadQueue, part } = change;
const { endpoint, user: username, password } = change;
const isImported = change.imported === true;
const provider = isImported ? {} : { provider: new rabbitmq.Provider("broker", { endpoint, username, password }) };
const target = { broker: "rabbitmq", version, strategy, strategies, deadQueue, ...(since && { since }) } as const;

const own =
  typeof part !== "object"
    ? part
    : {
        consumers: part.consumers,
        shared: (await new pulumi.StackReference(part.stack).getOutputDetails("shared")).value as readonly string[],
      };
const args = { system, target, vhost, imported: isImported, ...(own && { part: own }) };

/** The queues that this update leaves on the broker, and the resources that the stacks of other parts rely on. */
export const { left, shared } = new RetryTopology(component, args, provider);
