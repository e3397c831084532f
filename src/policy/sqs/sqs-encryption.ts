import type { Entry } from "../../brokers/entries.ts";
import { isUnreadable } from "../../brokers/pulumi-resource.ts";
import { encryptionAtRest } from "../frameworks.ts";
import { resourceRule } from "../rule.ts";

/** Encryption at rest, which is judged before the update and can be mended in it. */
export const sqsEncryption = resourceRule({
  name: "sqs-encryption",
  description: "Messages of SQS are kept encrypted.",
  severity: "medium",
  tags: ["sqs", "encryption"],
  framework: encryptionAtRest,
  why: "Encryption with keys of SQS is on for new queues, costs nothing, and changes nothing for whoever sends or receives. A queue where it was switched off keeps orders and dead letters in clear.",
  remediationSteps:
    "Set sqsManagedSseEnabled to true, or name a key in kmsMasterKeyId. With the level remediate the rule does the first by itself: nothing is lost by it, and no message is made unreadable.",
  types: ["aws:sqs/queue:Queue"],
  judge({ properties }) {
    if (!isInClear(properties)) return [];
    const message = "encryption with keys of SQS is switched off, and there is no key of KMS";
    return [{ part: null, message, help: "set sqsManagedSseEnabled to true" }];
  },
  remedy: { sqsManagedSseEnabled: true },
});

/** Only where it was switched off: AWS encrypts a queue of which nothing is said. */
function isInClear({ sqsManagedSseEnabled, kmsMasterKeyId }: Entry): boolean {
  const hasKey = isUnreadable(kmsMasterKeyId) || (typeof kmsMasterKeyId === "string" && kmsMasterKeyId !== "");
  return sqsManagedSseEnabled === false && !hasKey;
}
