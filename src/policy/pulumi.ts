import type {
  PolicyConfigSchema,
  ResourceValidationArgs,
  ResourceValidationPolicy,
  StackValidation,
  StackValidationPolicy,
} from "@pulumi/policy";
import { z } from "zod";

import { brokerOf } from "../brokers/index.ts";
import { refused } from "../diagnostics/render.ts";
import type { ChangeRule } from "./change.ts";
import { type ShownViolation, brokersOf, isAskedAbout, judge } from "./engine.ts";
import { type PolicyOptions, type SelectedRule, selectRules, settingsReader, settingsSchemaOf } from "./options.ts";
import { type StackReader, askedResource, stackReader } from "./pulumi-resources.ts";
import { type TopologyRule, docsOfRule } from "./rule.ts";
import { type Rule, rules } from "./rules.ts";
import { today } from "./selection.ts";
import { emptyStack } from "./stack.ts";

/**
 * The rules as policies for Pulumi: `new PolicyPack("redeliver", { policies: redeliverPolicies() })`.
 *
 * @param options without them every rule is advisory
 * @param chosen some of the rules, for a pack that has others beside them
 * @throws RefusedError with the rendered diagnostics (RD901 to RD903) where the options are wrong, so that the pack
 *   does not load
 */
export function redeliverPolicies(
  options: PolicyOptions = {},
  chosen: readonly Rule[] = rules,
): (ResourceValidationPolicy | StackValidationPolicy)[] {
  const selected = selectRules(options, chosen);
  if (!selected.ok) throw refused(selected.diagnostics);
  const reader = stackReader();
  return selected.value.filter(hasPolicy).map((each) => ({ ...describe(each), ...validationOf(each, reader) }));
}

type SelectedPolicy = SelectedRule & { readonly rule: Exclude<Rule, ChangeRule> };

/** Pulumi shows a policy pack no changes. */
function hasPolicy(selected: SelectedRule): selected is SelectedPolicy {
  return selected.rule.kind !== "change";
}

function describe(selected: SelectedRule): Omit<StackValidationPolicy, "validateStack"> {
  const { rule, level } = selected;
  return {
    name: rule.name,
    description: rule.description,
    enforcementLevel: level,
    severity: rule.severity,
    tags: [...rule.tags],
    framework: rule.framework,
    remediationSteps: rule.remediationSteps,
    url: docsOfRule(rule),
    configSchema: configSchemaOf(selected),
  };
}

function validationOf(
  selected: SelectedPolicy,
  reader: StackReader,
):
  | Pick<ResourceValidationPolicy, "validateResource" | "remediateResource">
  | Pick<StackValidationPolicy, "validateStack"> {
  const { rule } = selected;
  const settingsOf = settingsReader(selected);
  if (rule.kind === "topology")
    return {
      validateStack: onlyWith(queueTypeOf(rule), (stack, report) => {
        const shown = { ...emptyStack, resources: reader.read(rule, stack.resources) };
        for (const { text, urn } of judge(rule, shown, settingsOf(stack.getConfig()), today())) report(text, urn);
      }),
    };
  const judged = (resource: ResourceValidationArgs): readonly ShownViolation[] => {
    if (!isAskedAbout(rule, resource.type)) return [];
    const shown = { ...emptyStack, asked: [askedResource(resource)], tags: resource.stackTags };
    return judge(rule, shown, settingsOf(resource.getConfig()), today());
  };
  const remedy = rule.kind === "resource" ? rule.remedy : null;
  return {
    validateResource: (resource, report) => {
      reader.keep(resource);
      for (const { text } of judged(resource)) report(text);
    },
    ...(remedy !== null && {
      // Pulumi wants a change in place. A copy would read unknown values, and uncover secrets.
      remediateResource: (resource) =>
        judged(resource).length === 0 ? undefined : Object.assign(resource.props, remedy),
    }),
  };
}

/** A stack without a resource of this type breaks no rule of its broker; a rule for every broker needs no type. */
function queueTypeOf(rule: TopologyRule): string | null {
  const [broker] = rule.broker === null ? [] : brokersOf(rule);
  return broker === undefined ? null : (brokerOf({ broker }).auditor?.resources.queueType ?? null);
}

/**
 * Marks a rule that only a resource of this type can break. In a stack without one, the host then makes no resources
 * for the rule. `validateStackResourcesOfType` sets the same mark, but hands over the resources of that type alone.
 * Source: `getPulumiType` in @pulumi/policy 1.21.
 */
function onlyWith(type: string | null, validate: StackValidation): StackValidation {
  return type === null ? validate : Object.assign(validate, { __pulumiType: type });
}

/** In draft 7, the dialect of Pulumi's engine. The pack's settings are the defaults, since the engine fills them in. */
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
