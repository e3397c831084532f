import { readFileSync } from "node:fs";

import { Provider } from "@pulumi/azure-native/provider.js";
import { parse } from "yaml";

import { ServicebusRetryTopology } from "../src/brokers/servicebus/make/index.ts";
import type { StackConfig } from "../src/brokers/servicebus/make/index.ts";
import type { SystemInput } from "../src/index.ts";

/** The example that compiles for every broker, in the stack's namespace. */
export function deployToServicebus({ target, namespaceId }: StackConfig<"servicebus">): ServicebusRetryTopology {
  const declaration = readFileSync(new URL("../examples/portable.yaml", import.meta.url), "utf8");
  const [, , subscriptionId = ""] = namespaceId.split("/");
  const provider = new Provider("azure", { subscriptionId });
  const system = parse(declaration) as SystemInput;
  return new ServicebusRetryTopology("shop", { system, target, namespaceId, owner: "team-shop" }, { provider });
}
