import { type Diagnostic, type PathSegment, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import { asCode, inWords, isCrowded } from "./corrections.ts";
import { isCountOfRetries, ownWord, placeElsewhere } from "./other-words.ts";
import { guessed, isGuessed, isMapping, readDuration, withGuessedUnits } from "./read-duration.ts";
import { limits } from "./schema-parts.ts";

/** A part of a consumer in the form of another system. */
export interface ForeignShape {
  /** The one problem with it, with the same part in our form as its answer. */
  readonly problem: Diagnostic;
  /** The places that the answer mends. */
  readonly mends: readonly string[];
}

/** The diagnostics about other places than those that the shapes mend. */
export function unmended(diagnostics: readonly Diagnostic[], shapes: readonly ForeignShape[]): readonly Diagnostic[] {
  const mends = new Set(shapes.flatMap((each) => each.mends));
  return diagnostics.filter(
    ({ path }) => ![...path.matchAll(/[.[]|$/g)].some(({ index }) => mends.has(path.slice(0, index))),
  );
}

type Mapping = Readonly<Record<string, unknown>>;

/** Finds the parts of an unchecked declaration whose mistakes make sense only together. */
export function foreignShapes(input: unknown): readonly ForeignShape[] {
  if (!isMapping(input)) return [];
  const { sources, consumers } = input;
  const ofConsumers = Object.entries(isMapping(consumers) ? consumers : {}).flatMap(([name, consumer]) => {
    if (!isMapping(consumer)) return [];
    const path = ["consumers", name];
    return [
      ...shapeOfErrors([...path, "errors"], consumer["errors"]),
      ...shapeOfLevels(path, consumer),
      ...shapeOfFrom([...path, "from"], consumer["from"], sources),
      ...shapeOfIndent(path, consumer, "retry", ["attempts", "backoff", "giveUpAfter", "retryAfter"]),
      ...shapeOfIndent([...path, "retry"], Object(consumer["retry"]) as Mapping, "backoff", keysOfBackoffs),
    ];
  });
  const ofSources = Object.keys(isMapping(sources) ? sources : {}).flatMap((name) =>
    shapeOfIndent(["sources"], sources as Mapping, name, ["kind", "name", "owner"]),
  );
  const beside = (holder: string, isPart: (value: Mapping) => boolean): readonly ForeignShape[] => {
    const keys = Object.keys(input).filter((key) => isMapping(input[key]) && isPart(input[key] as Mapping));
    return shapeOfIndent([], input, holder, keys);
  };
  const isSource = (value: Mapping): boolean => typeof value["kind"] === "string";
  const isConsumer = (value: Mapping): boolean => ["from", "retry", "delivery"].some((key) => key in value);
  return [...beside("sources", isSource), ...beside("consumers", isConsumer), ...ofSources, ...ofConsumers];
}

const keysOfBackoffs = ["kind", "delay", "first", "factor", "step", "delays", "max", "jitter"];

/** A key without a value whose own keys stand beside it: in YAML they lack two blanks. */
function shapeOfIndent(path: readonly PathSegment[], beside: Mapping, key: string, own: readonly string[]) {
  if (beside[key] !== null || isCrowded(beside) || own.includes(key)) return [];
  // A source may have one of these names.
  const isAny = path[0] !== "sources";
  const keys = own.filter((each) => typeof beside[each] === "string" || (isAny && beside[each] !== undefined));
  const edit = asCode(Object.fromEntries(keys.map((each) => [each, beside[each]])));
  if (keys.length === 0) return [];
  const problem = diagnostic("RD101", {
    path: [...path, key],
    message: `${key} is empty, and its keys stand beside it`,
    notes: ["in YAML a key belongs to the key above it only if it is indented more"],
    help:
      edit === undefined
        ? `indent ${inWords(keys)} by two blanks more, with all that is in them`
        : `write ${key}: ${edit} instead of ${inWords(keys)}`,
  });
  return [{ problem, mends: [key, ...keys].map((each) => formatPath([...path, each])) }];
}

const keyWord = /^(routing|binding)[-_]?keys?$|^(event|message)?patterns?$/i;

/** A source beside a routing key, as in `{ orders: "all", routingKey: "order.placed" }`. */
function shapeOfFrom(path: readonly PathSegment[], from: unknown, sources: unknown): ForeignShape[] {
  if (!isMapping(from) || !isMapping(sources) || isCrowded(from)) return [];
  const [key, ...more] = Object.keys(from).filter((each) => keyWord.test(each) && !Object.hasOwn(sources, each));
  const [source, ...others] = Object.keys(from).filter((each) => each !== key);
  if (key === undefined || source === undefined || more.length + others.length > 0) return [];
  const keys = from[key];
  const edit = asCode({ [source]: Array.isArray(keys) ? keys : [keys] });
  if (edit === undefined || !Object.hasOwn(sources, source)) return [];
  const problem = diagnostic("RD101", {
    path,
    message: `${key} stands beside its source`,
    notes: ["each key of from is a source, and its value has the routing keys"],
    help: `write it as ${edit}`,
  });
  return [{ problem, mends: [path, [...path, key], [...path, source]].map((each) => formatPath(each)) }];
}

const status = /^[1-5](\d\d|xx)$/i;

/** True for a word of errors to retry. Redeliver retries every error that is not permanent. */
function isRetried(word: unknown): boolean {
  return ownWord(word, ["retry"]) !== undefined || placeElsewhere(wordOf(word))?.endsWith("transient") === true;
}

/**
 * Finds three other forms of `errors`: names with a verdict each, as in `{ SomeError: "permanent" }`; lists of errors to
 * retry, as in `{ retry: ["A"] }`; and statuses of HTTP.
 */
function shapeOfErrors(path: readonly PathSegment[], errors: unknown): ForeignShape[] {
  if (isCrowded(Object(errors) as object)) return [];
  const given = isMapping(errors) ? Object.entries(errors) : [["permanent", errors] as const];
  const verdicts = given.map(([key, value]): readonly unknown[] | null => {
    const isList = ownWord(key, ["permanent"]) !== undefined;
    const isFatal = ownWord(value, ["permanent", "deadLetter"]) !== undefined;
    if (isRetried(key) && !isFatal) return [];
    if (isList !== Array.isArray(value) || !(isList || typeof value === "string")) return null;
    if (isList) return value as readonly unknown[];
    if (isRetried(value)) return [];
    return isFatal ? [key] : null;
  });
  const all = verdicts.flatMap((each) => each ?? [null]);
  const isStatus = (each: unknown): boolean => status.test(wordOf(each));
  const code = all.find(isStatus);
  const names = [...new Set(all)].filter((each) => !isStatus(each));
  const hasVerdict = given.some(([key, value]) => isRetried(key) || !Array.isArray(value));
  if ((code === undefined && !hasVerdict) || !names.every((each) => typeof each === "string")) return [];
  const isCode = code !== undefined;
  const rest = isCode ? "only the handler knows the status" : "every error that permanent does not list is transient";
  const problem = diagnostic("RD101", {
    path,
    message: isCode ? `${wordOf(code)} is a status of HTTP, and no name of an error` : "errors has another form",
    notes: isCode
      ? ['consume compares the names of errors: for a status, throw permanent("NOT_FOUND") in the handler']
      : ["errors lists the permanent ones, and every other error is transient"],
    help:
      names.length === 0
        ? `remove it: ${rest}`
        : `write it as ${asCode({ permanent: names }) ?? "{ permanent: [ … ] }, with the names alone"}`,
  });
  return [{ problem, mends: [formatPath(path)] }];
}

/**
 * The immediate and delayed retries of NServiceBus. Source of its defaults: Particular's documentation, "Configuring
 * recoverability".
 */
function shapeOfLevels(path: readonly PathSegment[], consumer: Mapping): ForeignShape[] {
  const isOwn = (each: string): boolean => consumer[each] !== undefined && ownWord(each, ["retry"]) !== undefined;
  const own = Object.keys(consumer).find(isOwn);
  const holder: unknown = own === undefined ? consumer : consumer[own];
  if (!isMapping(holder) || isCrowded(holder) || "backoff" in holder) return [];
  const [immediate, delayed] = ["immediate", "delayed"].map((word) =>
    Object.keys(holder).find((each) => new RegExp(`^${word}(_?retries)?$`, "i").test(each)),
  );
  const keys = [immediate, delayed].filter((each) => each !== undefined);
  if (keys.length < 2 && !keys.some((each) => isMapping(holder[each]))) return [];
  const [atOnce, later] = [countIn(holder, immediate, 5), countIn(holder, delayed, 3)];
  const increase = delayed === undefined ? undefined : increaseIn(holder[delayed]);
  const first = readDuration(increase) ?? withGuessedUnits(increase);
  const { attempts = (later > 0 ? later : atOnce) + 1 } = holder;
  const isCount = Number.isSafeInteger(attempts) && Number(attempts) >= 1 && Number(attempts) <= limits.attempts;
  if (!isCount || Number.isNaN(atOnce + later) || (later > 0 && first === undefined)) return [];
  const rest = own === undefined ? [] : Object.entries(holder).filter(([key]) => !keys.includes(key));
  const backoff = later > 0 ? { kind: "linear", first } : { kind: "immediate" };
  const edit = asCode({ attempts, backoff, ...Object.fromEntries(rest) });
  if (edit === undefined) return [];
  const whole = `${edit}${isGuessed(increase, edit) ? guessed : ""}`;
  const instead = keys.length < 2 ? "" : ` instead of ${keys.join(" and ")}`;
  const place = [...path, own ?? keys[0] ?? ""];
  const problem = diagnostic(own === "retry" ? "RD101" : "RD102", {
    path: place,
    message: "the retries have the form of NServiceBus",
    notes:
      atOnce > 0 && later > 0
        ? [`NServiceBus makes ${(atOnce + 1) * (later + 1)} attempts on two levels; the answer has the delayed ones`]
        : [],
    help: own === "retry" ? `write it as ${whole}` : `write retry: ${whole}${own === undefined ? instead : ""}`,
  });
  const mended = own === undefined ? keys : [own];
  return [{ problem, mends: [...mended, "retry"].map((key) => formatPath([...path, key])) }];
}

/** The number of retries on a level. NaN if it is unclear, and 0 without the level. */
function countIn(holder: Mapping, level: string | undefined, byDefault: number): number {
  const value = level === undefined ? 0 : holder[level];
  if (!isMapping(value)) return typeof value === "number" ? value : NaN;
  const [, given = byDefault] = Object.entries(value).find(([key]) => isCountOfRetries(key)) ?? [];
  return typeof given === "number" ? given : NaN;
}

function increaseIn(value: unknown): unknown {
  const [, increase = "10s"] = Object.entries(Object(value) as object).find(([key]) => /increase/i.test(key)) ?? [];
  return increase;
}
