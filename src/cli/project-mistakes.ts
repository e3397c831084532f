import { parseTarget } from "../brokers/index.ts";
import { asCode, inWords } from "../declare/corrections.ts";
import type { ForeignShape } from "../declare/foreign-shapes.ts";
import { isMapping } from "../declare/read-duration.ts";
import { type PathSegment, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import type { InputForm } from "../diagnostics/schema-issues.ts";

const dev = { target: "rabbitmq@4.3" };
const examples: Readonly<Record<string, unknown>> = { ...dev, declaration: "shop.yaml", environments: { dev } };
const edit = (key: string): string => `${key}: ${asCode(examples[key])}`;

const waiverOf = (code: unknown): unknown => ({ code, reason: "why", until: "2027-06-30" });

function codesIn(value: unknown): readonly string[] {
  const codes = [value].flat().filter((each) => typeof each === "string" && /^RD\d{3}$/.test(each)) as string[];
  return codes.length === 0 ? ["RD207"] : codes;
}

/** The beginning of a project file. */
export const projectStart = `start with { ${edit("declaration")}, ${edit("environments")} }`;

/** The value that belongs into a place of a project file. */
export const projectSentences: NonNullable<InputForm["sentencesOf"]> = ({ kind, path, value }) => {
  const key = String(path.at(-1));
  if (
    kind === "unknown-key" &&
    path.length === 1 &&
    /^(ignored?|suppress(ed|ions)?|exceptions|allow(ed)?|disabled?)$/i.test(key)
  )
    return { help: `write waivers: ${asCode(codesIn(value).map(waiverOf))}` };
  const isEnvironment = path.length === 2 && path[0] === "environments";
  if (kind === "missing" && key in examples) return { help: `add ${edit(key)}` };
  if (kind === "wrong" && path.length === 2 && path[0] === "waivers")
    return { help: `write it as ${asCode(waiverOf(value))}` };
  if (kind !== "wrong" || !(isEnvironment || key in examples)) return {};
  return { help: `write ${isEnvironment ? `${key}: ${asCode(dev)}` : edit(key)}` };
};

function shape(path: readonly PathSegment[], message: string, help: string, ...mends: readonly string[]) {
  return [{ problem: diagnostic("RD321", { path, message, help }), mends: [...mends, formatPath(path)] }];
}

/** Finds a declaration in place of a project file, and targets and environments without the keys around them. */
export function projectShapes(data: unknown): readonly ForeignShape[] {
  if (!isMapping(data)) return [];
  const { declaration, environments, consumers } = data;
  if (declaration === undefined && isMapping(consumers)) {
    const parts = ["$schema", "name", "names", "sources", "consumers", "limits"].filter((key) => key in data);
    const needed = ["declaration", "environments"].filter((key) => data[key] === undefined);
    const help = `move ${inWords(parts)} to shop.yaml, and write ${needed.map(edit).join(" and ")} here`;
    return shape([], "this is a declaration, and a project file names its file", help, ...parts, ...needed);
  }
  const isTarget = (value: unknown): boolean => typeof value === "string" && /^[^:]{1,80}$/.test(value);
  if (environments === undefined)
    return Object.entries(data).flatMap(([key, value]) => {
      if (/^env(ironment)?s?$/i.test(key) && isMapping(value))
        return shape(
          [key],
          `${JSON.stringify(key)} is no key of a project file`,
          "did you mean environments?",
          "environments",
        );
      const isNamed = isMapping(value) && "target" in value;
      if (!isNamed && (key !== "target" || !(isTarget(value) || isMapping(value)))) return [];
      const whole = asCode({ dev: { target: value } }) ?? "{ dev: { target: … } }";
      const help = isNamed ? "move it into environments" : `write environments: ${whole}`;
      return shape([key], `${key} stands outside environments`, help, "environments");
    });
  return Object.entries(isMapping(environments) ? environments : {}).flatMap(([name, value]) => {
    const path = ["environments", name];
    if (isTarget(value)) return shape(path, `${name} has only a target`, `write it as ${asCode({ target: value })}`);
    if (!isMapping(value)) return [];
    const { target: word, strategy } = value;
    const known =
      typeof word === "string" && typeof strategy === "string" ? parseTarget(word, strategy.toLowerCase()) : null;
    if (known?.ok === true) {
      const given = Object.fromEntries(Object.entries(known.value).filter(([, each]) => each !== null));
      const whole = asCode(given) ?? "{ … }";
      const message = `the strategy of ${name} belongs to its target`;
      return shape(
        [...path, "target"],
        message,
        `write target: ${whole} instead of strategy`,
        `${formatPath(path)}.strategy`,
      );
    }
    if (!("broker" in value) || "target" in value) return [];
    const { url: _url, managementUrl: _managementUrl, ...target } = value;
    const help = `write target: ${asCode(target) ?? "{ … }"} instead of ${inWords(Object.keys(target))}`;
    return shape([...path, "broker"], `${name} has the keys of its target`, help, formatPath(path));
  });
}
