import { z } from "zod";

import { plainData } from "../declare/plain-data.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { describeOptionIssues } from "./option-issues.ts";
import { type Rule, rules } from "./rules.ts";
import { type Selection, type Settings, selectionSettings, topologySettings } from "./settings.ts";
import { isEntry } from "../foreign/entries.ts";

/** The effect of a violation. Source: `EnforcementLevel` of @pulumi/policy. */
export type Level = "advisory" | "mandatory" | "remediate" | "disabled";

const judging = ["advisory", "mandatory", "disabled"] as const satisfies readonly Level[];
/** The levels of a rule with a remedy. */
const mending = [...judging, "remediate"] as const satisfies readonly Level[];
const { include, exclude } = selectionSettings;

/** The settings of a rule, its own among them. Each has a default. */
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

/** The same without the defaults, so that the pack's other options apply to a setting that is left out. */
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

interface CheckedOptions extends Required<Omit<PolicyOptions, "rules">> {
  readonly rules: Readonly<Record<string, RuleOptions>>;
}

/** The options of a policy pack: its rules, their levels and their subjects. */
export interface PolicyOptions {
  /** `advisory`: nothing stops a deployment. `strict`: every violation stops it. */
  readonly preset?: "advisory" | "strict";
  /** The names of judged resources, for rules without such names of their own; `*` stands for anything. */
  readonly include?: readonly string[];
  /** The names of resources that no rule judges; `*` stands for anything. */
  readonly exclude?: readonly string[];
  /**
   * The targets of the stack, written as on the command line. A stack does not tell the version of its brokers.
   * Left out, the target of a component in the stack counts, or else the newest.
   */
  readonly targets?: readonly string[];
  /** By the name of a rule: its level, or its level with its settings. */
  readonly rules?: Readonly<Record<string, Level | RuleOptions>>;
}

export interface RuleOptions extends Partial<Selection> {
  /** `mandatory` stops a deployment, `advisory` warns, `remediate` mends, and `disabled` skips the rule. */
  readonly enforcementLevel?: Level;
  /** The rule's own settings; its page lists them. */
  readonly [setting: string]: unknown;
}

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
 * @returns all mistakes (RD901 to RD903) if there is one: a pack with a typing error would look stricter than it is
 */
export function selectRules(input: unknown, chosen: readonly Rule[] = rules): Checked<readonly SelectedRule[]> {
  const plain = plainData(input ?? {});
  if (!plain.ok) return plain;
  const given = plain.value;
  const schema = z.strictObject({
    preset: z.enum(presets).default("advisory"),
    include,
    exclude,
    ...topologySettings,
    rules: z.strictObject(Object.fromEntries(chosen.map((rule) => [rule.name, optionsOf(rule)]))).default({}),
  }) as unknown as z.ZodType<CheckedOptions>;
  const parsed = schema.safeParse(withLevelsAsSettings(given));
  if (!parsed.success) return { ok: false, diagnostics: describeOptionIssues(parsed.error.issues, given, schema) };
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
  return accepted(value);
}

/** A rule's level may be written alone, as Pulumi allows it in its own configuration files. */
function withLevelsAsSettings(input: unknown): unknown {
  if (!isEntry(input) || !isEntry(input["rules"])) return input;
  const entries = Object.entries(input["rules"]).map(([name, given]) => [
    name,
    typeof given === "string" ? { enforcementLevel: given } : given,
  ]);
  return { ...input, rules: Object.fromEntries(entries) as unknown };
}

/**
 * Reads a rule's settings. Pulumi's go before the pack's options, and these before the rule's own defaults.
 *
 * Pulumi asks a rule about thousands of resources with the same settings, so the reader keeps the last ones.
 *
 * @returns a function that throws RefusedError with the rendered diagnostics (RD901, RD903) where a setting is wrong
 */
export function settingsReader({ rule, settings }: SelectedRule): (sent?: object) => Settings {
  const schema = settingsSchemaOf(rule);
  let last: { readonly key: string; readonly value: Settings } | null = null;
  return (sent = {}) => {
    const input = { ...settings, ...sent };
    const key = JSON.stringify(input);
    if (last?.key !== key) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw refused(describeOptionIssues(parsed.error.issues, input, schema));
      last = { key, value: parsed.data as Settings };
    }
    return last.value;
  };
}
