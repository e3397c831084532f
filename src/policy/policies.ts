import type { PolicyConfigSchema, ResourceValidationArgs, ResourceValidationPolicy } from "@pulumi/policy";
import { z } from "zod";

import { refused } from "../diagnostics/render.ts";
import type { ReadComponent } from "./component.ts";
import { isComponentType, readComponent } from "./component.ts";
import { declarationReadable } from "./declaration/declaration-readable.ts";
import type { PolicyOptions, SelectedRule } from "./options.ts";
import { selectRules, settingsSchemaOf } from "./options.ts";
import { describeOptionIssues } from "./option-issues.ts";
import { plainProperties } from "./plain-properties.ts";
import type { Rule, Violation } from "./rule.ts";
import { pageFileOf } from "./rule.ts";
import { rules } from "./rules.ts";
import { reportedOf } from "./selection.ts";
import type { Selection } from "./settings.ts";

/**
 * The rules as policies for Pulumi: `new PolicyPack("redeliver", { policies: redeliverPolicies() })`.
 *
 * @param options which rules, how strictly and on what; everything is advisory where nothing is said
 * @param chosen some of the rules, for a pack that has others beside them
 * @throws RefusedError with the rendered diagnostics (RD901 to RD903) where the options are wrong: the pack does not load then
 */
export function redeliverPolicies(
  options: PolicyOptions = {},
  chosen: readonly Rule[] = rules,
): ResourceValidationPolicy[] {
  const selected = selectRules(options, chosen);
  if (!selected.ok) throw refused(selected.diagnostics);
  return selected.value.map(policyOf);
}

function policyOf(selected: SelectedRule): ResourceValidationPolicy {
  const { rule, level } = selected;
  return {
    name: rule.name,
    description: rule.description,
    enforcementLevel: level,
    severity: rule.severity,
    tags: [...rule.tags],
    remediationSteps: rule.remediationSteps,
    url: pageFileOf(rule),
    configSchema: configSchemaOf(selected),
    validateResource: (resource, report) => {
      if (!isComponentType(resource.type)) return;
      const settings = settingsOf(selected, resource.getConfig());
      for (const text of judgeDeclaration(selected.rule, resource, settings)) report(text);
    },
  };
}

function judgeDeclaration(rule: Rule, resource: ResourceValidationArgs, settings: Selection): readonly string[] {
  const read = readComponent(plainProperties(resource.props), resource.stackTags);
  return reportedOf(violationsOf(rule, read, settings), resource.name, settings, today());
}

function violationsOf(rule: Rule, read: ReadComponent, settings: Selection): readonly Violation[] {
  switch (read.kind) {
    case "component":
      return rule.judge(read.component, settings as never);
    case "unreadable":
      return rule === declarationReadable ? [{ part: null, message: read.reason, help: rule.remediationSteps }] : [];
    // Whatever it is, the update knows it, and judges.
    case "unknown":
      return [];
    default:
      return read satisfies never;
  }
}

/** What Pulumi was told about the rule goes before what the pack was told, and that before the rule's own defaults. */
function settingsOf({ rule, settings }: SelectedRule, fromPulumi: object): Selection {
  const schema = settingsSchemaOf(rule);
  const input = { ...settings, ...fromPulumi };
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw refused(describeOptionIssues(parsed.error.issues, input, schema));
  return parsed.data as unknown as Selection;
}

/** In the dialect that the engine checks with, draft 7, and with the pack's own settings as defaults, since the engine fills them in. */
function configSchemaOf({ rule, settings }: SelectedRule): PolicyConfigSchema {
  const { properties } = z.toJSONSchema(settingsSchemaOf(rule), {
    io: "input",
    target: "draft-7",
  }) as PolicyConfigSchema;
  const withDefaults = Object.entries(properties).map(([key, schema]) => [
    key,
    key in settings ? { ...schema, default: settings[key] } : schema,
  ]);
  return { properties: Object.fromEntries(withDefaults) as PolicyConfigSchema["properties"] };
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
