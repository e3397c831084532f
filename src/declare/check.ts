import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { formatPath, hasErrors } from "../diagnostics/diagnostic.ts";
import { consumerRules } from "./consumer-rules.ts";
import { deepFreeze } from "./freeze.ts";
import { describeIssues } from "./schema-issues.ts";
import { soundConsumerSchema, systemSchema } from "./schema.ts";
import type { System } from "./system.ts";

/**
 * Checks a declaration of any origin: a literal, a parsed file, a stack's configuration.
 *
 * All independent problems are reported at once; a rule that looks at several fields stays silent
 * where one of them is itself wrong.
 *
 * @returns the declaration with defaults filled in, frozen; or the reasons why it is refused
 */
export function checkSystem(input: unknown): Checked<System> {
  const parsed = systemSchema.safeParse(input);
  if (parsed.success) {
    const diagnostics = Object.entries(parsed.data.consumers).flatMap(([name, consumer]) =>
      consumerRules(name, consumer, parsed.data.sources),
    );
    if (hasErrors(diagnostics)) return { ok: false, diagnostics };
    return { ok: true, value: deepFreeze(parsed.data as System), warnings: diagnostics };
  }
  const fromSchema = describeIssues(parsed.error.issues, input);
  return { ok: false, diagnostics: [...fromSchema, ...rulesOfSoundFields(input, fromSchema)] };
}

/**
 * Runs the rules across fields on what the schema has nothing against: of each consumer the fields
 * that were not reported. A missing retry is not reported again.
 */
function rulesOfSoundFields(input: unknown, reported: readonly Diagnostic[]): Diagnostic[] {
  if (!isRecord(input) || !isRecord(input["sources"]) || !isRecord(input["consumers"])) return [];
  const sources = input["sources"];
  return Object.entries(input["consumers"]).flatMap(([name, consumer]) => {
    if (!isRecord(consumer)) return [];
    const isSound = (key: string): boolean => {
      const path = formatPath(["consumers", name, key]);
      return !reported.some(
        (each) => each.path === path || (/^[.[]/.test(each.path.slice(path.length)) && each.path.startsWith(path)),
      );
    };
    const sound = soundConsumerSchema.safeParse(
      Object.fromEntries(Object.entries(consumer).filter(([key]) => isSound(key))),
    );
    return sound.success ? consumerRules(name, sound.data, sources, isSound) : [];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
