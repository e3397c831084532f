import { readFileSync } from "node:fs";

import { Provider } from "@pulumi/aws/provider.js";
import { parse } from "yaml";

import { SqsRetryTopology } from "../src/brokers/sqs/make/index.ts";
import type { StackConfig } from "../src/brokers/sqs/make/index.ts";
import type { SystemInput } from "../src/index.ts";
import type { Deployable } from "./project.ts";

/** The example that compiles for every broker. */
function example(): Deployable {
  const declaration = readFileSync(new URL("../examples/portable.yaml", import.meta.url), "utf8");
  return { name: "shop", system: parse(declaration) as SystemInput, owner: "team-shop" };
}

/** A system, in the stack's region and the account of its credentials. */
export function deployToSqs(
  { target, naming = "explicit" }: StackConfig<"sqs">,
  { name, ...deployed }: Deployable = example(),
): SqsRetryTopology {
  const { region, account } = target;
  // Credentials of another account end the deployment before anything is made there.
  const provider = new Provider("aws", { region, ...(account === undefined ? {} : { allowedAccountIds: [account] }) });
  return new SqsRetryTopology(name, { ...deployed, target, naming }, { provider });
}
