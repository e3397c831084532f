import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error } from "./catalogue-entry.ts";

/** RD9xx: what a policy pack is told, and what it judges. */
export const policyCatalogue = {
  RD901: error(
    "Malformed option of a policy pack",
    "The options of a policy pack have a fixed form, and here a value is of another kind, or stands at a key that is not known. Nothing is passed over: a pack that ignores half of what it was told looks stricter than it is. A waiver needs the resource, a reason and a last day.",
  ),
  RD902: error(
    "No rule has this name",
    "The options name a rule that does not exist, so what they say about it would be without effect. The note lists the rules. In a file for --policy-pack-config nobody sees such a mistake, since Pulumi passes over names that it does not know; in the pack's own options it is an error.",
  ),
  RD903: error(
    "A budget that nothing can keep",
    "The first time counts as an attempt, so at most 0 attempts would forbid every consumer, and no message reaches a dead queue within 0 s. Such a budget is a typing error, or a rule that is meant to be turned off. Write a budget that can be kept, or set enforcementLevel to disabled.",
  ),
  RD904: error(
    "This is not what pulumi preview --json prints",
    "The text has to be the one document that pulumi preview --json prints, with a list of steps in it. The state of a stack is another text, which redeliver audit --stack reads, and so is the stream of events that Pulumi writes where PULUMI_ENABLE_STREAMING_JSON_PREVIEW is set. Nothing was judged.",
  ),
  RD905: error(
    "A part of the preview is missing",
    "Pulumi leaves out what stays the same unless it is told --show-sames, and a preview that failed stops somewhere. A dead-letter queue is known by the queues that name it, so what is judged without some of them would be wrong in both directions. Nothing was judged.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
