import type { Entry } from "../foreign/entries.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { docsPage } from "../diagnostics/docs-site.ts";
import type { Framework } from "./frameworks.ts";

export type Severity = "low" | "medium" | "high" | "critical";

/** The texts of a rule, for Pulumi and for the page of the rule. */
export interface RuleText {
  /** Stable, since configurations and waivers name it. */
  readonly name: string;
  /** The rule as one sentence. Pulumi shows it with every violation. */
  readonly description: string;
  readonly severity: Severity;
  /** Subjects, so that people can choose rules by them. */
  readonly tags: readonly string[];
  /** The published practice behind it. */
  readonly framework: Framework;
  /** The incident that the rule prevents. */
  readonly why: string;
  /** The fix and its cost. */
  readonly remediationSteps: string;
  /** Advisory under every preset: the rule reports missing knowledge, and no mistake. */
  readonly isOnlyAdvice?: boolean;
}

/** One way in which a resource breaks a rule. */
export interface Violation {
  /** The part of the resource that it is about, such as a consumer; null for the resource itself. */
  readonly part: string | null;
  /** A fact, with both numbers where there are numbers. */
  readonly message: string;
  /** One edit that fixes it. */
  readonly help: string;
}

/** A rule on all resources of a stack: some of the findings of an audit. */
export interface TopologyRule extends RuleText {
  readonly kind: "topology";
  /** The name of a broker; null for every broker. */
  readonly broker: string | null;
  readonly codes: readonly DiagnosticCode[];
}

/** A rule on the inputs of a single resource, which a preview knows for the most part. */
export interface ResourceRule extends RuleText {
  readonly kind: "resource";
  /** The rule is silent about resources of other types. */
  readonly types: readonly string[];
  readonly judge: (resource: AskedResource) => readonly Violation[];
  /** The properties that fix a violation. Null if none do, or if their change could lose something. */
  readonly remedy: Entry | null;
}

/** A resource as a program asks for it. */
export interface AskedResource {
  /** Pulumi's type, such as `rabbitmq:index/queue:Queue`. */
  readonly type: string;
  /** Pulumi's name of the resource, which is unique in the stack. */
  readonly urn: string;
  /** The name that the program gave it. */
  readonly name: string;
  /** The inputs of the program, as far as they are known before the deployment. */
  readonly properties: Entry;
  /** True if Pulumi refuses to delete it. */
  readonly isProtected: boolean;
}

/** A rule that a broker brings, on the resources of its providers. */
export type BrokerRule = TopologyRule | ResourceRule;

/** The address of a rule's page. */
export function docsOfRule({ name }: Pick<RuleText, "name">): string {
  return docsPage(`policies/${name}`);
}

export function topologyRule(rule: Omit<TopologyRule, "kind">): TopologyRule {
  return Object.freeze({ kind: "topology", ...rule });
}

/**
 * Completes a broker's table of rules on its topologies.
 *
 * @param broker the name with which its targets begin
 * @param table the rules by the names under which the package exports them: `sqsOpenPolicy` is the rule sqs-open-policy
 */
export function topologyRules<Name extends string>(
  broker: string,
  table: Readonly<Record<Name, Omit<TopologyRule, "kind" | "broker" | "name">>>,
): Readonly<Record<Name, TopologyRule>> {
  const rules = Object.entries<(typeof table)[Name]>(table).map(([key, rule]) => {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [key, topologyRule({ name, broker, ...rule })];
  });
  return Object.freeze(Object.fromEntries(rules)) as Readonly<Record<Name, TopologyRule>>;
}

export function resourceRule(rule: Omit<ResourceRule, "kind">): ResourceRule {
  return Object.freeze({ kind: "resource", ...rule });
}
