import { type BrokerName, brokers } from "../brokers/index.ts";
import { type StackFinding, auditStack } from "./audit-stack.ts";
import { isComponentType, readComponent } from "./component.ts";
import { type DeclarationRule, declarationRules } from "./declaration-rules.ts";
import { plainTypeOf } from "./resource-types.ts";
import type { AskedResource, TopologyRule, Violation } from "./rule.ts";
import type { Rule } from "./rules.ts";
import { fitLine, judgedAs, reportedOf } from "./selection.ts";
import type { Settings } from "./settings.ts";
import type { Stack, StackResource } from "./stack.ts";

export interface ShownViolation {
  /** The fact, the reason and the fix: a line each. */
  readonly text: string;
  /** The resource that it is about; undefined for the stack. */
  readonly urn: string | undefined;
}

/**
 * Judges a stack by one rule.
 *
 * @param settings the rule's settings, each with a value
 * @param today as `2027-01-31`: waivers expire
 */
export function judge(rule: Rule, stack: Stack, settings: Settings, today: string): readonly ShownViolation[] {
  const reportAt = (
    { name, urn }: { readonly name: string; readonly urn: string },
    violations: readonly Violation[],
  ): readonly ShownViolation[] => reportedOf(violations, name, settings, today).map((text) => ({ text, urn }));
  switch (rule.kind) {
    case "declaration":
      return stack.asked
        .filter(({ type }) => isAskedAbout(rule, type))
        .flatMap((each) => reportAt(each, declarationViolations(rule, each, stack.tags, settings)));
    case "resource":
      return stack.asked
        .filter(({ type }) => isAskedAbout(rule, type))
        .flatMap((each) => reportAt(each, rule.judge(each)));
    case "topology": {
      const { targets = [] } = settings;
      const findings = brokersOf(rule).flatMap((broker) => auditStack(broker, stack.resources, targets));
      return reportedFindings(rule, findings, settings, today);
    }
    case "change":
      return stack.changes.flatMap((each) => reportAt(each, rule.judge(each, stack.staying)));
    default:
      return rule satisfies never;
  }
}

/** True if a rule judges single resources of a type. Most resources of a large stack have no such type. */
export function isAskedAbout(rule: Rule, type: string): boolean {
  if (rule.kind === "declaration") return isComponentType(type);
  return rule.kind === "resource" && rule.types.includes(plainTypeOf(type));
}

/** The brokers at which a rule finds something. */
export function brokersOf({ broker }: TopologyRule): readonly BrokerName[] {
  const all = Object.keys(brokers) as BrokerName[];
  return broker === null ? all : all.filter((name) => name === broker);
}

function declarationViolations(
  rule: DeclarationRule,
  { properties }: AskedResource,
  tags: Stack["tags"],
  settings: Settings,
): readonly Violation[] {
  const read = readComponent(properties, tags);
  switch (read.kind) {
    case "component":
      return rule.judge(read.component, settings);
    case "unreadable": {
      if (rule !== declarationRules.declarationReadable) return [];
      return [{ part: null, message: read.reason, help: rule.remediationSteps }];
    }
    // The update knows the value, and the rule judges it then.
    case "unknown":
      return [];
    default:
      return read satisfies never;
  }
}

/** Reports each finding once, at the first of its resources that are not waived or left out. */
function reportedFindings(
  { codes, remediationSteps }: TopologyRule,
  findings: readonly StackFinding[],
  settings: Settings,
  today: string,
): readonly ShownViolation[] {
  const own = findings.filter((each) => codes.includes(each.diagnostic.code));
  return own.flatMap(({ diagnostic: { code, message, path, notes, help }, rulesOf, about }) => {
    const judged = about.map((resource) => ({ resource, as: judgedAs(namesOf(resource), settings, today) }));
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
    return [{ text: lines.map(fitLine).join("\n"), urn: left[0]?.resource.urn }];
  });
}

/** A resource is known by the name that the program gave it, and by its name at the broker. */
function namesOf({ name, properties }: StackResource): readonly string[] {
  const physical = properties["name"];
  return typeof physical === "string" && physical !== name ? [name, physical] : [name];
}
