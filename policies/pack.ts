import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { PolicyPack } from "@pulumi/policy";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";

import { redeliverPolicies } from "../src/policy/index.ts";
import type { PolicyOptions } from "../src/policy/index.ts";
import { readResourcesOnce } from "./read-once.ts";

/** Read beside the pack, whose folder is the working directory; another file can be named for another environment. */
const file = process.env["REDELIVER_POLICY_OPTIONS"] ?? "redeliver-policy.yaml";

/** Pulumi shows a RunError without its stack, which would be of no use to the person who wrote the options. */
function policiesOrRefusal(): ReturnType<typeof redeliverPolicies> {
  try {
    return redeliverPolicies((parse(readFileSync(file, "utf8")) ?? {}) as PolicyOptions);
  } catch (cause) {
    throw new pulumi.RunError(`the options in ${basename(file)} are refused: ${(cause as Error).message}`);
  }
}

readResourcesOnce();
new PolicyPack("redeliver", { policies: policiesOrRefusal() });
