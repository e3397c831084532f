import { lossOf, typesWithLoss } from "../resource-types.ts";
import { testedChanges } from "../frameworks.ts";
import { changeRule } from "../rule.ts";

/** Queues that stay. */
export const queueDeletion = changeRule({
  name: "queue-deletion",
  description: "No update deletes a queue that may hold messages, or what such a queue still needs.",
  severity: "critical",
  tags: ["rabbitmq", "sqs", "servicebus", "data loss", "changes"],
  framework: testedChanges,
  why: "Somebody tidies up a program and gives a queue another logical name, or adds one argument that the broker cannot change. The preview says `replace`, among forty other lines. The update deletes the queue with the orders of the weekend in it, makes an empty one of the same name, and all is green.",
  remediationSteps:
    "Where only the name in the program is new, add the old one to aliases. Where the resource has to be replaced, make the new one beside it under another name, move consumers and then publishers, and delete the old one when it is empty; retainOnDelete has to be deployed before the update that deletes, since Pulumi asks the old state. Where it may go with all that is in it, waive the rule for this resource until a day soon.",
  types: typesWithLoss,
  judge({ kind, type, properties, isRetained, reasons }, staying) {
    const lost = lossOf(type, properties);
    if (lost === null) return [];
    const because = reasons.length === 0 ? "" : ` because of ${reasons.join(", ")}`;
    if (kind === "replace") {
      if (!isRetained) return [{ part: null, message: `it is replaced${because}: ${lost.loss}`, help: beside }];
      // Elsewhere, or under another name, the new one is made and the old one stays.
      if (reasons.length === 0 || reasons.some((reason) => lost.identity.includes(reason))) return [];
      const message = `it is replaced${because}, and stays: the broker refuses a second one of its name, so the update ends half done`;
      return [{ part: null, message, help: beside }];
    }
    if (isRetained) return [];
    // An exchange that nobody wants any more may go; what is published to it is refused, and its publisher hears of it.
    const loss = lost.holds ? lost.loss : (lost.strands?.(properties, staying) ?? null);
    if (loss === null) return [];
    const message = `it is deleted, since the program has nothing of this name any more: ${loss}`;
    return [{ part: null, message, help: lost.holds ? keep : stay }];
  },
});

const beside = "make the new one beside it under another name, and delete this one when it is empty";
const keep = "keep it, or add its name to the aliases of what is the same resource under a new name";
const stay =
  "let it stay as long as the queue does: deploy retainOnDelete for it first, or delete the queue with it when it is empty";
