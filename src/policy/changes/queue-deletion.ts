import { lossOf, typesWithLoss } from "../resource-types.ts";
import { testedChanges } from "../frameworks.ts";
import { changeRule } from "../rule.ts";

/** Queues that stay. */
export const queueDeletion = changeRule({
  name: "queue-deletion",
  description: "No update deletes a queue that may hold messages, or what leads to one.",
  severity: "critical",
  tags: ["rabbitmq", "sqs", "servicebus", "data loss", "changes"],
  framework: testedChanges,
  why: "Somebody tidies up a program and gives a queue another logical name, or adds one argument that the broker cannot change. The preview says `replace`, among forty other lines. The update deletes the queue with the orders of the weekend in it, makes an empty one of the same name, and all is green.",
  remediationSteps:
    "Where only the name in the program is new, add the old one to aliases. Where the resource has to be replaced, make the new one beside it under another name, move consumers and then publishers, and delete the old one when it is empty; retainOnDelete has to be deployed before the update that deletes, since Pulumi asks the old state. Where it may go with all that is in it, waive the rule for this resource until a day soon.",
  types: typesWithLoss,
  judge({ kind, type, properties, isRetained, reasons }) {
    const lost = lossOf(type, properties);
    if (lost === null || isRetained) return [];
    // An exchange that nobody wants any more may go; what is published to it is refused, and its publisher hears of it.
    if (!lost.holds && kind === "delete") return [];
    const because = reasons.length === 0 ? "" : ` because of ${reasons.join(", ")}`;
    const message =
      kind === "replace"
        ? `it is replaced${because}: ${lost.loss}`
        : `it is deleted, since the program has nothing of this name any more: ${lost.loss}`;
    const help =
      kind === "replace"
        ? "make the new one beside it under another name, and delete this one when it is empty"
        : "keep it, or add its name to the aliases of what is the same resource under a new name";
    return [{ part: null, message, help }];
  },
});
