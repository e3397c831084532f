import * as rabbitmq from "@pulumi/rabbitmq";

import { RetryTopology } from "../src/brokers/rabbitmq/make/index.ts";
import type { StackConfig } from "../src/brokers/rabbitmq/make/index.ts";
import type { Deployable } from "./project.ts";
import shop from "./shop.ts";

const example: Deployable = { name: "shop", system: shop, owner: "team-shop" };

/** A system on the stack's own RabbitMQ. */
export function deployToRabbitmq(
  config: StackConfig<"rabbitmq">,
  { name, ...deployed }: Deployable = example,
): RetryTopology {
  const { target, vhost, broker: _, ...access } = config;
  // Written out, so that RABBITMQ_INSECURE in an environment does not switch off the check of certificates.
  const broker = new rabbitmq.Provider("broker", { ...access, insecure: false });
  return new RetryTopology(name, { ...deployed, target, vhost }, { provider: broker });
}
