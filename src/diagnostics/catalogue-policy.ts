import { type CatalogueEntry, error } from "./catalogue-entry.ts";

/** RD9xx: the options of a policy pack, and the previews that it judges. */
export const policyCatalogue = {
  RD901: error(
    "Malformed option of a policy pack",
    "The options of a policy pack have a fixed form. Here a value has the wrong type, or a key is unknown. Redeliver ignores no option: a pack that ignores half of its options looks stricter than it is. A waiver needs the resource, a reason and a last day.",
  ),
  RD902: error(
    "No rule has this name",
    "The options name a rule that does not exist, so the setting would have no effect. The note lists the rules. In a file for --policy-pack-config such a mistake stays unnoticed, because Pulumi skips names that it does not know. In the pack's own options it is an error.",
  ),
  RD903: error(
    "A budget that no consumer can keep",
    "The first attempt counts, so a maximum of 0 attempts would forbid every consumer. No message reaches a dead queue within 0 s. Such a budget is a typing error, or is meant to turn the rule off. Write a budget that can be kept, or set enforcementLevel to disabled.",
  ),
  RD904: error(
    "This is not the output of pulumi preview --json",
    "Redeliver expects the one document that pulumi preview --json prints, with a list of steps. The state of a stack is another document, which redeliver audit --stack reads. So is the event stream that Pulumi writes under PULUMI_ENABLE_STREAMING_JSON_PREVIEW. Redeliver judged nothing.",
  ),
  RD905: error(
    "A part of the preview is missing",
    "Pulumi leaves unchanged resources out of a preview unless you pass --show-sames, and a failed preview stops half-way. Redeliver recognises a dead-letter queue by the queues that name it. With a part missing it would report false faults and miss real ones, so it judged nothing.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
