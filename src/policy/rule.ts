import type { z } from "zod";

import type { Entry } from "../brokers/entries.ts";
import type { StayingResource } from "../brokers/broker.ts";
import type { BrokerName } from "../brokers/index.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import type { ResourceChange } from "./change.ts";
import type { Component } from "./component.ts";
import type { Framework } from "./frameworks.ts";

export type Severity = "low" | "medium" | "high" | "critical";

/** What a rule says about itself: Pulumi shows it, and its page is made of it. */
interface RuleText {
  /** Stable, since configurations and waivers name it. */
  readonly name: string;
  /** What has to be so, as one sentence. It is shown with every violation. */
  readonly description: string;
  readonly severity: Severity;
  /** What the rule is about, for those who choose rules by subject. */
  readonly tags: readonly string[];
  /** The published practice that it belongs to. */
  readonly framework: Framework;
  /** What happens without it: the incident that the rule prevents. */
  readonly why: string;
  /** How a violation is mended, and what that costs. */
  readonly remediationSteps: string;
  /** Advisory under every preset: it does not say that something is wrong, only that nobody knows. */
  readonly isOnlyAdvice?: boolean;
}

/** Something that is not as a rule wants it. */
export interface Violation {
  /** The part of the resource that it is about, such as a consumer; null for the resource itself. */
  readonly part: string | null;
  /** A fact, with both numbers where there are numbers. */
  readonly message: string;
  /** One edit that mends it. */
  readonly help: string;
}

/** A rule on what a person declared: known before anything is created, so it judges in a preview too. */
export interface DeclarationRule<Config extends z.ZodObject = z.ZodObject> extends RuleText {
  readonly kind: "declaration";
  /** The rule's own settings, each with a default. */
  readonly config: Config;
  /** As a method, so that rules with different settings can stand in one list. */
  judge(component: Component, config: z.output<Config>): readonly Violation[];
}

/** A rule on the resources of a whole stack, whoever made them: some of the findings of an audit. */
export interface TopologyRule extends RuleText {
  readonly kind: "topology";
  /** Null for every broker. */
  readonly broker: BrokerName | null;
  readonly codes: readonly DiagnosticCode[];
}

/** A rule on a single resource by what the program asks for: what is known in a preview is judged there. */
export interface ResourceRule extends RuleText {
  readonly kind: "resource";
  /** Of resources of other types it has nothing to say. */
  readonly types: readonly string[];
  readonly judge: (resource: AskedResource) => readonly Violation[];
  /** The properties with which a violation is mended. Only where nothing can be lost by it; null where there are none. */
  readonly remedy: Entry | null;
}

/** A resource as a program asks for it. */
export interface AskedResource {
  readonly type: string;
  readonly urn: string;
  readonly properties: Entry;
  /** Whether Pulumi refuses to delete it. */
  readonly isProtected: boolean;
}

/** A rule on what an update does. A policy pack is shown no change, so that only previews are judged by it. */
export interface ChangeRule extends RuleText {
  readonly kind: "change";
  /** Of changes to resources of other types it has nothing to say. */
  readonly types: readonly string[];
  /** @param staying what is on the broker after the update */
  readonly judge: (change: ResourceChange, staying: readonly StayingResource[]) => readonly Violation[];
}

export type Rule = DeclarationRule | TopologyRule | ResourceRule | ChangeRule;

/** Where the page of a rule is, from the root of the project or of the installed package. */
export function pageFileOf({ name }: Rule): string {
  return `docs/policies/${name}.md`;
}

/** Keeps the type of a rule's settings while the rule is written. */
export function declarationRule<Config extends z.ZodObject>(
  rule: Omit<DeclarationRule<Config>, "kind">,
): DeclarationRule<Config> {
  return Object.freeze({ kind: "declaration", ...rule });
}

export function topologyRule(rule: Omit<TopologyRule, "kind">): TopologyRule {
  return Object.freeze({ kind: "topology", ...rule });
}

export function changeRule(rule: Omit<ChangeRule, "kind">): ChangeRule {
  return Object.freeze({ kind: "change", ...rule });
}

export function resourceRule(rule: Omit<ResourceRule, "kind">): ResourceRule {
  return Object.freeze({ kind: "resource", ...rule });
}
