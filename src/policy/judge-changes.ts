import type { StayingResource } from "../brokers/broker.ts";
import type { ResourceChange } from "./change.ts";
import type { SelectedRule } from "./options.ts";
import { settingsSchemaOf } from "./options.ts";
import type { ChangeRule } from "./rule.ts";
import { reportedOf } from "./selection.ts";
import type { Selection } from "./settings.ts";

/** What one rule says of one change; each text is a violation, as Pulumi would show it. */
export function judgeChange(
  rule: ChangeRule,
  { settings }: SelectedRule,
  { change, staying }: { readonly change: ResourceChange; readonly staying: readonly StayingResource[] },
  today: string,
): readonly string[] {
  const selection = settingsSchemaOf(rule).parse(settings) as unknown as Selection;
  return reportedOf(rule.judge(change, staying), change.name, selection, today);
}
