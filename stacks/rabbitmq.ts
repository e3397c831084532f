import * as rabbitmq from "@pulumi/rabbitmq";

import { RetryTopology } from "../src/deploy/index.ts";
import type { StackConfig } from "../src/deploy/index.ts";
import shop from "./shop.ts";

/** The example system on the stack's own RabbitMQ. */
export function deployToRabbitmq({
  target,
  vhost,
  endpoint,
  username,
  password,
}: StackConfig<"rabbitmq">): RetryTopology {
  const broker = new rabbitmq.Provider("broker", { endpoint, username, password });
  return new RetryTopology("shop", { system: shop, target, vhost, owner: "team-shop" }, { provider: broker });
}
