import { z } from "zod";

import type { Checked } from "../diagnostics/diagnostic.ts";
import { describeOptionIssues } from "./option-issues.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import type { Selection } from "./settings.ts";
import { selectionSettings, topologySettings } from "./settings.ts";

/** How a violation is taken. Source: `EnforcementLevel` of @pulumi/policy. */
export type Level = "advisory" | "mandatory" | "remediate" | "disabled";

const judging = ["advisory", "mandatory", "disabled"] as const satisfies readonly Level[];
/** A rule that mends what it finds can be told to do so. */
const mending = [...judging, "remediate"] as const satisfies readonly Level[];
const { include, exclude } = selectionSettings;

/** What a rule can be told, its own settings among it; everything has a default. */
export function settingsSchemaOf(rule: Rule): z.ZodObject {
  return z.strictObject({ ...ownSettingsOf(rule), ...selectionSettings });
}

function ownSettingsOf(rule: Rule): z.ZodRawShape {
  switch (rule.kind) {
    case "declaration":
      return rule.config.shape;
    case "topology":
      return topologySettings;
    case "resource":
    case "change":
      return {};
    default:
      return rule satisfies never;
  }
}

/** The same without the defaults: what is left out here is left to the pack's other options. */
function optionsOf(rule: Rule): z.ZodType {
  const shape = Object.entries(settingsSchemaOf(rule).shape).map(([key, setting]) => [
    key,
    setting instanceof z.ZodDefault ? setting.unwrap() : setting,
  ]);
  const settings = z.strictObject(Object.fromEntries(shape) as z.ZodRawShape);
  return settings
    .extend({ enforcementLevel: z.enum(rule.kind === "resource" && rule.remedy !== null ? mending : judging) })
    .partial()
    .optional();
}

const presets = ["advisory", "strict"] as const;

function optionsSchemaFor(chosen: readonly Rule[]): z.ZodType<CheckedOptions> {
  return z.strictObject({
    preset: z.enum(presets).default("advisory"),
    include,
    exclude,
    ...topologySettings,
    rules: z.strictObject(Object.fromEntries(chosen.map((rule) => [rule.name, optionsOf(rule)]))).default({}),
  }) as unknown as z.ZodType<CheckedOptions>;
}

interface CheckedOptions {
  readonly preset: (typeof presets)[number];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly targets: readonly string[];
  readonly rules: Readonly<Record<string, RuleOptions>>;
}

/** What a policy pack is told: which rules, how strictly, and on what. */
export interface PolicyOptions {
  /** `advisory`: nothing stops a deployment. `strict`: everything that a rule finds does. */
  readonly preset?: "advisory" | "strict";
  /** The names of what is judged, for the rules that say nothing else; `*` stands for anything. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /**
   * What the brokers of the stack are, such as `rabbitmq@4.0`: a stack does not say it of resources that Redeliver did not make.
   * Left out, the version that a component of the stack is for, or else the newest.
   */
  readonly targets?: readonly string[];
  /** By the name of a rule: its level, or its level with its settings. */
  readonly rules?: Readonly<Record<string, Level | RuleOptions>>;
}

export interface RuleOptions extends Partial<Selection> {
  readonly enforcementLevel?: Level;
  /** The rule's own settings; its page lists them. */
  readonly [setting: string]: unknown;
}

/** A rule with what was decided about it. */
export interface SelectedRule {
  readonly rule: Rule;
  readonly level: Level;
  /** Settings that take the place of the rule's own defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Decides about every rule.
 *
 * @param input `PolicyOptions` of any origin
 * @param chosen the rules of the pack
 * @returns the reasons why nothing is decided, all of them (RD901 to RD903), where a single option is wrong: a pack with a typing
 *   error in it would be one that looks stricter than it is
 */
export function selectRules(input: unknown, chosen: readonly Rule[] = rules): Checked<readonly SelectedRule[]> {
  const schema = optionsSchemaFor(chosen);
  const parsed = schema.safeParse(withLevelsAsSettings(input ?? {}));
  if (!parsed.success) return { ok: false, diagnostics: describeOptionIssues(parsed.error.issues, input, schema) };
  const { preset, rules: byName, targets, ...names } = parsed.data;
  const value = chosen.map((rule): SelectedRule => {
    const { enforcementLevel, ...settings } = byName[rule.name] ?? {};
    const byPreset = preset === "strict" && rule.isOnlyAdvice !== true ? "mandatory" : "advisory";
    return {
      rule,
      level: enforcementLevel ?? byPreset,
      settings: { ...names, ...(rule.kind === "topology" ? { targets } : {}), ...settings },
    };
  });
  return { ok: true, value, warnings: [] };
}

/** A rule's level may be written alone, as Pulumi allows it in its own configuration files. */
function withLevelsAsSettings(input: unknown): unknown {
  if (!isMapping(input) || !isMapping(input["rules"])) return input;
  const entries = Object.entries(input["rules"]).map(([name, given]) => [
    name,
    typeof given === "string" ? { enforcementLevel: given } : given,
  ]);
  return { ...input, rules: Object.fromEntries(entries) as unknown };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
