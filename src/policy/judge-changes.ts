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
  { change, left }: { readonly change: ResourceChange; readonly left: readonly ResourceChange[] },
  today: string,
): readonly string[] {
  const selection = settingsSchemaOf(rule).parse(settings) as unknown as Selection;
  return reportedOf(rule.judge(change, left), change.name, selection, today);
}
