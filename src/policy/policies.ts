import type {
  PolicyConfigSchema,
  ResourceValidation,
  ResourceValidationArgs,
  ResourceValidationPolicy,
  StackValidation,
  StackValidationPolicy,
} from "@pulumi/policy";
import { z } from "zod";

import type { BrokerName } from "../brokers/index.ts";
import { brokerOf, brokers } from "../brokers/index.ts";
import { refused } from "../diagnostics/render.ts";
import type { ReadComponent } from "./component.ts";
import { isComponentType, readComponent } from "./component.ts";
import { declarationReadable } from "./declaration/declaration-readable.ts";
import type { StackFinding, StackResource } from "./judge-stack.ts";
import { judgeStack } from "./judge-stack.ts";
import { plainTypeOf } from "./resource-types.ts";
import type { PolicyOptions, SelectedRule } from "./options.ts";
import { selectRules, settingsSchemaOf } from "./options.ts";
import { describeOptionIssues } from "./option-issues.ts";
import { plainProperties } from "./plain-properties.ts";
import type { StackReader } from "./read-stack.ts";
import { stackReader } from "./read-stack.ts";
import type { ChangeRule, DeclarationRule, Rule, TopologyRule, Violation } from "./rule.ts";
import { pageFileOf } from "./rule.ts";
import { rules } from "./rules.ts";
import { judgedAs, reportedOf } from "./selection.ts";
import type { Selection, TopologySelection } from "./settings.ts";

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
): (ResourceValidationPolicy | StackValidationPolicy)[] {
  const selected = selectRules(options, chosen);
  if (!selected.ok) throw refused(selected.diagnostics);
  const shown = stackReader();
  return selected.value.filter(hasPolicy).map((each) => ({ ...describe(each), ...validationOf(each, shown) }));
}

/** A policy pack is not told what an update changes. */
function hasPolicy(selected: SelectedRule): selected is SelectedPolicy {
  return selected.rule.kind !== "change";
}

type SelectedPolicy = SelectedRule & { readonly rule: Exclude<Rule, ChangeRule> };

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
    url: pageFileOf(rule),
    configSchema: configSchemaOf(selected),
  };
}

function validationOf(
  selected: SelectedPolicy,
  shown: StackReader,
):
  | Pick<ResourceValidationPolicy, "validateResource" | "remediateResource">
  | Pick<StackValidationPolicy, "validateStack"> {
  const { rule } = selected;
  const settingsIn = settingsReader(selected);
  switch (rule.kind) {
    case "declaration":
      return {
        validateResource: (resource, report) => {
          shown.keep(resource);
          if (!isComponentType(resource.type)) return;
          const settings = settingsIn<Selection>(resource.getConfig());
          for (const text of judgeDeclaration(rule, resource, settings)) report(text);
        },
      };
    case "topology":
      return {
        validateStack: onlyWith(queueTypeOf(rule), (stack, report) => {
          const settings = settingsIn<TopologySelection>(stack.getConfig());
          const findings = brokersOf(rule).flatMap((broker) =>
            judgeStack(broker, shown.read(rule, broker, stack.resources), settings.targets),
          );
          for (const { text, urn } of reportedFindings(rule, findings, settings)) report(text, urn);
        }),
      };
    case "resource": {
      const judge = (resource: ResourceValidationArgs): readonly string[] => {
        if (!rule.types.includes(plainTypeOf(resource.type))) return [];
        const settings = settingsIn<Selection>(resource.getConfig());
        const { type, urn, name, props, opts } = resource;
        const asked = { type, urn, properties: plainProperties(props), isProtected: opts.protect };
        return reportedOf(rule.judge(asked), name, settings, today());
      };
      const validateResource: ResourceValidation = (resource, report) => {
        shown.keep(resource);
        for (const text of judge(resource)) report(text);
      };
      const { remedy } = rule;
      if (remedy === null) return { validateResource };
      return {
        validateResource,
        // Changed in place, as Pulumi wants it: a copy would read what is not known, and take its cover off what is secret.
        remediateResource: (resource) =>
          judge(resource).length === 0 ? undefined : Object.assign(resource.props, remedy),
      };
    }
    default:
      return rule satisfies never;
  }
}

/** Where this is missing no rule of the broker finds anything; a rule for every broker is always asked. */
function queueTypeOf({ broker }: TopologyRule): string | null {
  return broker === null ? null : (brokerOf({ broker }).auditor?.resources.queueType ?? null);
}

/**
 * Spares the host the making of every resource for a rule that a stack without a resource of this type cannot break. The mark is the one
 * that `validateStackResourcesOfType` sets, which hands over the resources of that type alone. Source: `getPulumiType` in @pulumi/policy 1.21.
 */
function onlyWith(type: string | null, validate: StackValidation): StackValidation {
  return type === null ? validate : Object.assign(validate, { __pulumiType: type });
}

function brokersOf({ broker }: TopologyRule): readonly BrokerName[] {
  return broker === null ? (Object.keys(brokers) as BrokerName[]) : [broker];
}

function judgeDeclaration(
  rule: DeclarationRule,
  resource: ResourceValidationArgs,
  settings: Selection,
): readonly string[] {
  const read = readComponent(plainProperties(resource.props), resource.stackTags);
  return reportedOf(violationsOf(rule, read, settings), resource.name, settings, today());
}

function violationsOf(rule: DeclarationRule, read: ReadComponent, settings: Selection): readonly Violation[] {
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

/** What one rule says of what was found: once for each finding, at the first of the resources that are not waived or left out. */
function reportedFindings(
  { codes, remediationSteps }: TopologyRule,
  findings: readonly StackFinding[],
  settings: Selection,
): readonly { readonly text: string; readonly urn: string | undefined }[] {
  const own = findings.filter((each) => codes.includes(each.diagnostic.code));
  return own.flatMap(({ diagnostic: { code, message, path, notes, help }, rulesOf, about }) => {
    const judged = about.map((resource) => ({ resource, as: judgedAs(namesOf(resource), settings, today()) }));
    const left = judged.filter(({ as }) => as !== null);
    if (about.length > 0 && left.length === 0) return [];
    const waived = judged.filter(({ as }) => as === null).map(({ resource }) => resource.name);
    const lines = [
      `[${code}] ${message}`,
      ...(path === "" ? [] : [`at ${path}, by the rules of ${rulesOf}`]),
      ...notes,
      ...(waived.length === 0 ? [] : [`waived or left out: ${waived.join(", ")}`]),
      ...new Set(left.flatMap(({ as }) => as?.notes ?? [])),
      `fix: ${help ?? remediationSteps}`,
    ];
    return [{ text: lines.join("\n"), urn: left[0]?.resource.urn }];
  });
}

/** A resource is known by the name that the program gave it, and by its name at the broker. */
function namesOf({ name, properties }: StackResource): readonly string[] {
  const physical = properties["name"];
  return typeof physical === "string" && physical !== name ? [name, physical] : [name];
}

/** A rule's settings from what Pulumi was told about it. */
type ReadSettings = <Settings>(fromPulumi: object) => Settings;

/**
 * What Pulumi was told about the rule goes before what the pack was told, and that before the rule's own defaults.
 *
 * A rule is asked about each of thousands of resources, and told the same each time: the schema is made once, and what was read last is kept.
 */
function settingsReader({ rule, settings }: SelectedRule): ReadSettings {
  const schema = settingsSchemaOf(rule);
  let last: { readonly key: string; readonly value: unknown } | null = null;
  return <Settings>(fromPulumi: object): Settings => {
    const input = { ...settings, ...fromPulumi };
    const key = JSON.stringify(input);
    if (last?.key !== key) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw refused(describeOptionIssues(parsed.error.issues, input, schema));
      last = { key, value: parsed.data };
    }
    return last.value as Settings;
  };
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
