import { PolicyPack } from "@pulumi/policy";

import { redeliverPolicies } from "../../../src/policy/index.ts";

new PolicyPack("plain", { policies: redeliverPolicies({ preset: "strict" }) });
