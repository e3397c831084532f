import { isMadeByComponent } from "../component.ts";
import { holdingTypes, lossOf } from "../resource-types.ts";
import { testedChanges } from "../frameworks.ts";
import { resourceRule } from "../rule.ts";

/** Protection, which lets Pulumi itself refuse what would lose messages. */
export const queueProtection = resourceRule({
  name: "queue-protection",
  description: "What holds messages is protected from deletion.",
  severity: "high",
  tags: ["rabbitmq", "sqs", "servicebus", "data loss", "changes"],
  framework: testedChanges,
  why: "A queue's type cannot be changed, nor most of its arguments, nor its logical name: Pulumi deletes it and makes another, and the messages are gone. With protect a preview ends with an error before anything is touched. Without one, as in the Automation API, Pulumi refuses a replacement in time, but refuses a deletion only after it has deleted what depended on the queue. A policy is not told of retainOnDelete, so that does not count.",
  remediationSteps:
    "Pass { protect: true } among the options of the resource, or of the component that it is in. To delete it on purpose, empty it and take the protection off in an update of its own. Retain what the queue needs as well, its bindings and exchanges, with retainOnDelete. Temporary queues need none, and neither does what a component of Redeliver makes, which retains all of it.",
  types: holdingTypes,
  judge({ type, urn, properties, isProtected }) {
    const lost = lossOf(type, properties);
    if (lost === null || isProtected || isMadeByComponent(urn)) return [];
    const message = `it is not protected: where it is deleted or replaced, ${lost.loss}`;
    return [{ part: null, message, help: "pass { protect: true } among the options of the resource" }];
  },
  remedy: null,
});
