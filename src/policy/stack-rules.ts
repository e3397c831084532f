import { brokers } from "../brokers/index.ts";
import type { ChangeRule } from "./change.ts";
import { isMadeByComponent } from "./component.ts";
import { testedChanges } from "./frameworks.ts";
import { holdingTypes, lossOf, typesWithLoss } from "./resource-types.ts";
import { resourceRule, topologyRule } from "./rule.ts";

const beside = "make the new one beside it under another name, and delete this one when it is empty";
const keep = "keep it; if it has only a new name, add the old name to the aliases of the renamed resource";
const stay =
  "keep it as long as the queue: deploy retainOnDelete for it first, or delete it with the queue when the queue is empty";

/** The rules on stacks for any broker, in the order of pages and reports. */
export const stackRules = Object.freeze({
  /** Names the resources that could not be judged, so that no other rule is silent about them without a reason. */
  topologyReadable: topologyRule({
    name: "topology-readable",
    description: "Redeliver can read every queue of the stack and its surroundings.",
    severity: "medium",
    isOnlyAdvice: true,
    tags: ["policy pack"],
    framework: testedChanges,
    why: "A resource of another provider version, or of a type that a plugin adds, may have an unknown form. If the rules skipped it silently, the run would look like success.",
    remediationSteps:
      "Use a provider version that this Redeliver knows, simplify a policy's pattern, or exclude resources that need no judgement.",
    broker: null,
    codes: ["RD201", "RD402", "RD404", "RD405", "RD406", "RD409", "RD427", "RD428"],
  }),
  queueDeletion: Object.freeze<ChangeRule>({
    kind: "change",
    name: "queue-deletion",
    description: "No update deletes a queue that may hold messages, or a resource that such a queue still needs.",
    severity: "critical",
    tags: [...Object.keys(brokers), "data loss", "changes"],
    framework: testedChanges,
    why: "A developer gives a queue another logical name, or adds one argument that the broker cannot change. The preview says `replace`, among forty other lines. The update deletes the queue with the weekend's orders and makes an empty one of the same name, without an error.",
    remediationSteps:
      "If only the name in the program is new, add the old one to aliases. If the resource has to be replaced, make the new one beside it under another name. Move consumers, then publishers, and delete the old one when it is empty. Deploy retainOnDelete before the update that deletes, because Pulumi uses the old state. If its messages may be lost, waive the rule for this resource for a few days.",
    types: typesWithLoss,
    judge({ kind, type, properties, isRetained, reasons }, staying) {
      const lost = lossOf(type, properties);
      if (lost === null) return [];
      const because = reasons.length === 0 ? "" : ` because of ${reasons.join(", ")}`;
      if (kind === "replace") {
        if (!isRetained) return [{ part: null, message: `it is replaced${because}: ${lost.loss}`, help: beside }];
        // In another place, or under another name, Pulumi makes the new one and the old one stays.
        if (reasons.length === 0 || reasons.some((reason) => lost.identity.includes(reason))) return [];
        const message = `it is replaced${because}, and stays: the broker refuses a second one of its name, so the update stops half-way`;
        return [{ part: null, message, help: beside }];
      }
      if (isRetained) return [];
      // An unused exchange may go: the broker refuses a later publish, and its publisher learns of it.
      const loss = lost.holds ? lost.loss : (lost.strands?.(properties, staying) ?? null);
      if (loss === null) return [];
      const message = `it is deleted, because the program no longer has a resource of this name: ${loss}`;
      return [{ part: null, message, help: lost.holds ? keep : stay }];
    },
  }),
  /** With protection Pulumi itself refuses an update that would lose messages. */
  queueProtection: resourceRule({
    name: "queue-protection",
    description: "Resources that hold messages are protected from deletion.",
    severity: "high",
    tags: [...Object.keys(brokers), "data loss", "changes"],
    framework: testedChanges,
    why: "If you change a queue's type, most of its arguments or its logical name, Pulumi deletes it, makes another and loses the messages. With protect the preview fails before it changes anything. Without a preview, as in the Automation API, Pulumi refuses a replacement in time. It refuses a deletion only after it has deleted the resources that depend on the queue. Pulumi does not show retainOnDelete to a policy, so it does not count.",
    remediationSteps:
      "Pass { protect: true } in the options of the resource, or of its component. To delete it on purpose, empty it and remove the protection in a separate update. Also retain the queue's bindings and exchanges with retainOnDelete. Temporary queues need no protection. Components of Redeliver retain all their resources and need none either.",
    types: holdingTypes,
    judge({ type, urn, properties, isProtected }) {
      const lost = lossOf(type, properties);
      if (lost === null || isProtected || isMadeByComponent(urn)) return [];
      const message = `it is not protected: if it is deleted or replaced, ${lost.loss}`;
      return [{ part: null, message, help: "pass { protect: true } in the options of the resource" }];
    },
    remedy: null,
  }),
});
