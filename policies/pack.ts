import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { PolicyPack } from "@pulumi/policy";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";

import { redeliverPolicies } from "../src/policy/index.ts";
import type { PolicyOptions } from "../src/policy/index.ts";
import { readResourcesOnce } from "./read-once.ts";

/**
 * The pack reads this file from its own folder, which is the working directory. The variable names another file for
 * another environment.
 */
const file = process.env["REDELIVER_POLICY_OPTIONS"] ?? "redeliver-policy.yaml";

/** Pulumi shows a RunError without its stack, because a stack does not help the author of the options. */
function policiesOrRefusal(): ReturnType<typeof redeliverPolicies> {
  try {
    return redeliverPolicies((parse(readFileSync(file, "utf8")) ?? {}) as PolicyOptions);
  } catch (cause) {
    throw new pulumi.RunError(`the options in ${basename(file)} are refused: ${(cause as Error).message}`);
  }
}

readResourcesOnce();
new PolicyPack("redeliver", { policies: policiesOrRefusal() });
