import { readFileSync } from "node:fs";

import { Provider } from "@pulumi/aws/provider.js";
import { parse } from "yaml";

import { SqsRetryTopology } from "../src/brokers/sqs/make/index.ts";
import type { StackConfig } from "../src/brokers/sqs/make/index.ts";
import type { SystemInput } from "../src/index.ts";

/** The example that compiles for both brokers, in the stack's region and the account of its credentials. */
export function deployToSqs({ target, naming = "explicit" }: StackConfig<"sqs">): SqsRetryTopology {
  const declaration = readFileSync(new URL("../examples/portable.yaml", import.meta.url), "utf8");
  const { region, account } = target;
  // Credentials of another account end the deployment before anything is made there.
  const provider = new Provider("aws", { region, ...(account === undefined ? {} : { allowedAccountIds: [account] }) });
  const system = parse(declaration) as SystemInput;
  return new SqsRetryTopology("shop", { system, target, naming, owner: "team-shop" }, { provider });
}
