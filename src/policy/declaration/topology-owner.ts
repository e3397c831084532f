import { z } from "zod";

import { knownOwners } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";

/** An owner. */
export const topologyOwner = declarationRule({
  name: "topology-owner",
  description: "It is said who looks after the dead letters.",
  severity: "medium",
  tags: ["dead letters", "ownership"],
  framework: knownOwners,
  why: "The alarm goes off at three in the morning, and the queue is called svc-evt-2.dead. An hour goes by until it is known whose it is.",
  remediationSteps:
    'Pass owner: "team-billing" to the component, or set the tag of the stack: pulumi stack tag set owner team-billing.',
  config: z.object({
    stackTag: z.string().min(1).default("owner").meta({ description: "The tag of the stack that counts as well." }),
  }),
  judge({ owner, stackTags }, { stackTag }) {
    const tag = stackTags.get(stackTag)?.trim() ?? "";
    if (owner !== null || tag !== "") return [];
    return [
      {
        part: null,
        message: `neither the component has an owner nor the stack a tag ${stackTag}`,
        help: 'pass owner to the component, such as owner: "team-billing"',
      },
    ];
  },
});
