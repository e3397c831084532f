import type { z } from "zod";

import {
  type Checked,
  type Diagnostic,
  accepted,
  diagnosed,
  diagnostic,
  hasErrors,
} from "../diagnostics/diagnostic.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { consumerRules } from "./consumer-rules.ts";
import { asCode, inWords } from "./corrections.ts";
import { foreignShapes, unmended } from "./foreign-shapes.ts";
import { deepFreeze } from "./freeze.ts";
import { warnOfLiterals } from "./literal-texts.ts";
import { nameRules } from "./name-rules.ts";
import { describeDeclarationIssues, placesMeant } from "./schema-issues.ts";
import { plainData } from "./plain-data.ts";
import { isMapping } from "./read-duration.ts";
import { soundConsumerSchema, systemSchema } from "./schema.ts";
import type { System } from "./system.ts";

/**
 * Checks a declaration from any source: a literal, a parsed file, a stack's configuration.
 *
 * It reports all independent problems at once. A rule across several fields stays silent if one of them is itself
 * wrong.
 *
 * @returns the declaration with defaults filled in, frozen; or the reasons to refuse it
 */
export function checkSystem(input: unknown): Checked<System> {
  const plain = plainData(input);
  return plain.ok ? checkPlain(withoutOwnParts(plain.value)) : plain;
}

/** Leaves out the keys at the top that belong to the user. YAML has no other place for an anchor. */
function withoutOwnParts(input: unknown): unknown {
  if (!isMapping(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !key.startsWith("x-")));
}

/** The declarations that were checked here. A value that only looks like one may come from anywhere. */
const checked = new WeakSet<object>();

/**
 * Returns a checked declaration as it is, at no cost, and checks any other value. Callers without types may pass
 * anything.
 */
export function sureSystem(system: unknown): Checked<System> {
  const isSure = typeof system === "object" && system !== null && checked.has(system);
  return isSure ? accepted(system as System) : checkSystem(system);
}

/** A mapping around the whole declaration, as in `{ system: { name: … } }`, also in the form of Kubernetes. */
function wrapper(input: unknown): Diagnostic[] {
  const { apiVersion, kind, metadata, version, ...others } = isMapping(input) ? input : {};
  const [[key = "", inner] = [], ...more] = Object.entries(others);
  const isSystem = (value: unknown): boolean => isMapping(value) && isMapping(value["consumers"]);
  if (more.length > 0 && Object.values(others).every(isSystem))
    return diagnosed("RD102", {
      path: [],
      message: `the file has ${more.length + 1} systems, ${inWords(Object.keys(others))}`,
      help: "write each system into a file of its own, with its keys at the top",
    });
  if (more.length > 0 || !isMapping(inner) || !isMapping(inner["consumers"])) return [];
  const around = Object.entries({ apiVersion, kind, metadata, version }).filter(([, value]) => value !== undefined);
  const own = isMapping(metadata) ? wordOf(metadata["name"] ?? "shop") : key;
  const name = inner["name"] === undefined ? `, and add name: ${JSON.stringify(own)}` : "";
  const instead = around.length > 0 ? ` instead of ${inWords(around.map(([each]) => each))}` : "";
  return diagnosed("RD102", {
    path: [key],
    message: `${JSON.stringify(key)} is around the whole declaration`,
    notes: ["the keys at the top are name, sources and consumers"],
    help: `move its keys to the top${name}${instead}`,
  });
}

function checkPlain(input: unknown): Checked<System> {
  const wrapped = wrapper(input);
  if (wrapped.length > 0) return { ok: false, diagnostics: wrapped };
  const parsed = systemSchema.safeParse(input);
  const shapes = foreignShapes(input);
  const named = nameRules(input);
  // A name that only looks like a declared one leads to an unknown source. Reporting both would repeat one problem.
  const without = (diagnostics: readonly Diagnostic[]): Diagnostic[] => [
    ...shapes.map(({ problem }) => problem),
    ...unmended([...named, ...diagnostics.filter(({ path }) => !named.some((each) => each.path === path))], shapes),
  ];
  if (parsed.success) {
    const { $schema: _editors, ...system } = parsed.data;
    const consumers = Object.entries(system.consumers);
    const diagnostics = without([
      ...consumers.flatMap(([name, consumer]) => consumerRules(name, consumer, system.sources)),
      ...(consumers.length === 0 ? [withoutConsumers()] : []),
    ]);
    if (hasErrors(diagnostics)) return { ok: false, diagnostics };
    const value = deepFreeze(system as System);
    checked.add(value);
    return accepted(value, [...diagnostics, ...warnOfLiterals(value), ...unconnected(value)]);
  }
  const { issues } = parsed.error;
  return {
    ok: false,
    diagnostics: without([
      ...describeDeclarationIssues(issues, input),
      ...rulesOfSoundFields(input, fieldsOf(issues, input)),
    ]),
  };
}

function withoutConsumers(): Diagnostic {
  return diagnostic("RD114", {
    path: "consumers",
    message: "no consumer is declared, so Redeliver compiles and proves nothing",
    help: "declare a consumer, or check whether you meant another file",
  });
}

/** Warns of a consumer without `from` beside a source that nobody takes from: hardly anybody means both. */
function unconnected({ sources, consumers }: System): Diagnostic[] {
  const taken = new Set(Object.values(consumers).flatMap(({ from = {} }) => Object.keys(from)));
  const [source, declared] =
    Object.entries(sources).find(([name, { owner }]) => owner !== "other" && !taken.has(name)) ?? [];
  const [consumer] =
    Object.entries(consumers).find(
      // The one that drains an old queue takes from no source.
      ([, { from, formerly }]) => from === undefined && formerly === undefined,
    ) ?? [];
  if (source === undefined || consumer === undefined) return [];
  const keys = declared?.kind === "direct" ? ["order.placed"] : "all";
  return [
    diagnostic("RD122", {
      path: ["consumers", consumer],
      message: `${consumer} takes from no source, and no consumer takes from ${source}`,
      notes: [`the broker deletes the messages that are published to ${source}`],
      help: `write from: ${asCode({ [source]: keys })}, or remove ${source} from the sources`,
    }),
  ];
}

/** Runs the rules across fields on the fields that the schema accepts. It does not report a missing retry again. */
function rulesOfSoundFields(input: unknown, reported: ReadonlySet<string>): Diagnostic[] {
  if (!isMapping(input) || !isMapping(input["consumers"])) return [];
  const { sources = {} } = input;
  // Another key may hold the sources.
  if (!isMapping(sources) || reported.has(JSON.stringify(["sources"]))) return [];
  return Object.entries(input["consumers"]).flatMap(([name, consumer]) => {
    if (!isMapping(consumer)) return [];
    const isSound = (key: string): boolean => !reported.has(JSON.stringify(["consumers", name, key]));
    const sound = soundConsumerSchema.safeParse(
      Object.fromEntries(Object.entries(consumer).filter(([key]) => isSound(key))),
    );
    return sound.success ? consumerRules(name, sound.data, sources, isSound) : [];
  });
}

/** The fields of consumers with a problem in them. A misplaced key is a problem of its right place. */
function fieldsOf(issues: readonly z.core.$ZodIssue[], input: unknown): ReadonlySet<string> {
  const paths = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  return new Set([...paths, ...placesMeant(issues, input)].map((path) => JSON.stringify(path.slice(0, 3))));
}
