import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic, formatPath, hasErrors } from "../diagnostics/diagnostic.ts";
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
  const unusable = unusableNames(input);
  if (unusable.length > 0) return { ok: false, diagnostics: unusable };
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

/** JavaScript gives `__proto__` a meaning of its own, so what has this name would vanish on its way. */
function unusableNames(input: unknown): Diagnostic[] {
  if (!isRecord(input)) return [];
  return ["sources", "consumers"].flatMap((kind) => {
    const named = input[kind];
    if (!isRecord(named) || !Object.hasOwn(named, "__proto__")) return [];
    return [
      diagnostic("RD111", {
        path: [kind, "__proto__"],
        message: "__proto__ cannot be a name",
        value: "__proto__",
        help: "choose another name",
      }),
    ];
  });
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
