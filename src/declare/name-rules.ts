import { type Diagnostic, type PathSegment, diagnostic } from "../diagnostics/diagnostic.ts";
import { valueAt } from "../diagnostics/schema-issues.ts";
import { maskCredentials } from "../diagnostics/mask-credentials.ts";

/**
 * Characters that no name needs: control characters, halves of characters, and invisible ones. Joiners and variation
 * selectors are allowed, because Persian, Hindi and Mongolian words need them.
 */
const useless =
  /(?![\u{180B}-\u{180D}\u{180F}\u{200C}\u{200D}]|[\u{FE00}-\u{FE0F}]|[\u{E0100}-\u{E01EF}])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]/u;

interface Named {
  readonly path: readonly PathSegment[];
  readonly name: string;
}

/**
 * Checks the names in an unchecked declaration. Redeliver must be able to show each name, and a reader must be able to
 * tell it from the others of its kind.
 */
export function nameRules(input: unknown): Diagnostic[] {
  const { name, formerly, names, sources, consumers } = recordOf(input);
  const keysOf = (value: unknown, ...path: readonly PathSegment[]): readonly Named[] =>
    Object.keys(recordOf(value)).map((key) => ({ path: [...path, key], name: key }));
  const ownSources = keysOf(sources, "sources");
  const inConsumers = Object.entries(recordOf(consumers)).flatMap(([consumer, value]) => {
    const path = ["consumers", consumer];
    const { from, errors } = recordOf(value);
    const taken = keysOf(from, ...path, "from").filter((each) => !Object.hasOwn(recordOf(sources), each.name));
    return [
      [...ownSources.map((each) => ({ ...each, isChecked: true })), ...taken],
      ...Object.entries(recordOf(from)).map(([source, keys]) => textsIn(keys, [...path, "from", source])),
      textsIn(recordOf(errors)["permanent"], [...path, "errors", "permanent"]),
    ];
  });
  const physicalIn = (kind: string, values: unknown, ...fields: readonly string[]): readonly Named[] =>
    Object.entries(recordOf(values)).flatMap(([key, value]) =>
      textsIn([valueAt(value, fields)], []).map((each) => ({ ...each, path: [kind, key, ...fields] })),
    );
  const templates = Object.entries(recordOf(names)).flatMap(([key, value]) =>
    textsIn([value], []).map((each) => ({ ...each, path: ["names", key] })),
  );
  const kinds = [
    physicalIn("sources", sources, "name"),
    [...physicalIn("consumers", consumers, "queue"), ...physicalIn("consumers", consumers, "deadLetter", "queue")],
    physicalIn("consumers", consumers, "formerly"),
    templates,
    ...Object.entries({ name, formerly }).map(([key, value]) =>
      textsIn([value], []).map((each) => ({ ...each, path: [key] })),
    ),
    ownSources,
    keysOf(consumers, "consumers"),
  ];
  return [...kinds, ...inConsumers].flatMap(rulesOfOneKind);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textsIn(list: unknown, path: readonly PathSegment[]): readonly Named[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown, index) =>
    typeof each === "string" ? [{ path: [...path, index], name: each }] : [],
  );
}

/** Checks names that stand beside each other. Names already checked as another kind serve only for comparison. */
function rulesOfOneKind(all: readonly (Named & { readonly isChecked?: boolean })[]): Diagnostic[] {
  const seen = new Map<string, string>();
  return all.flatMap(({ path, name, isChecked }) => {
    const problem = problemOf(name);
    if (problem !== null) return isChecked === true ? [] : [refuse(path, name, problem)];
    const likeness = likenessOf(name);
    const other = seen.get(likeness);
    if (other === undefined) seen.set(likeness, name);
    if (other === undefined || other === name || isChecked === true) return [];
    return [refuse(path, name, `the name looks like ${escaped(other)}, which is another one`)];
  });
}

function problemOf(name: string): string | null {
  const [character] = useless.exec(name) ?? [];
  if (character !== undefined) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return /\p{Cs}/u.test(character)
      ? `the name contains half a character, U+${code}`
      : `the name contains an invisible character, U+${code}`;
  }
  if (name !== "" && likenessOf(name) === "") return "the name contains only invisible characters";
  return maskCredentials(name) === name ? null : "the name seems to contain a password";
}

/**
 * Two names with the same result look the same. Source: Unicode Standard Annex 15, normalisation form C, and Annex 44
 * on ignored characters.
 */
function likenessOf(name: string): string {
  return name.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFC");
}

function refuse(path: readonly PathSegment[], name: string, message: string): Diagnostic {
  return diagnostic("RD113", {
    path,
    message,
    value: name,
    notes: /[^ -~]/.test(name) && maskCredentials(name) === name ? [`in full it is ${escaped(name)}`] : [],
    help: "choose a name of letters, digits, dots, dashes and underscores",
  });
}

/** A name with its doubtful characters written as escapes. */
function escaped(name: string): string {
  return JSON.stringify(name).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
