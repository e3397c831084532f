import { readFileSync } from "node:fs";

import { Provider } from "@pulumi/azure-native/provider.js";
import { parse } from "yaml";

import { ServicebusRetryTopology } from "../src/brokers/servicebus/make/index.ts";
import type { StackConfig } from "../src/brokers/servicebus/make/index.ts";
import type { SystemInput } from "../src/index.ts";
import type { Deployable } from "./project.ts";

/** The example that compiles for every broker. */
function example(): Deployable {
  const declaration = readFileSync(new URL("../examples/portable.yaml", import.meta.url), "utf8");
  return { name: "shop", system: parse(declaration) as SystemInput, owner: "team-shop" };
}

/** A system, in the stack's namespace. */
export function deployToServicebus(
  { target, namespaceId }: StackConfig<"servicebus">,
  { name, ...deployed }: Deployable = example(),
): ServicebusRetryTopology {
  const [, , subscriptionId = ""] = namespaceId.split("/");
  const provider = new Provider("azure", { subscriptionId });
  return new ServicebusRetryTopology(name, { ...deployed, target, namespaceId }, { provider });
}
