import type { DifferentSetting } from "../../drift.ts";
import type { Entry } from "../../../foreign/entries.ts";
import { parseInnerJson } from "../../../foreign/parse-json.ts";
import { type Field, type Fields, type Writing, propertiesOf } from "./fields.ts";

const itself = (value: unknown): unknown => value;
const byName: Writing = { queue: itself, topic: itself, source: itself, tags: () => undefined, dimensions: itself };

/**
 * Compares a resource with AWS's answer about it. Resources of the same account and region count by their names.
 *
 * @param found the attributes under AWS's names, as text or as data. A symbol is a value that nobody may read
 * @param place the beginning of the ARN of each resource there: `eu-west-1:123456789012`
 */
export function compareAttributes<Entity>(table: Fields<Entity>, entity: Entity, found: Entry, place: string) {
  const wanted = propertiesOf(table, entity, byName);
  const settings: DifferentSetting[] = [];
  const unsaid: string[] = [];
  for (const [key, field] of Object.entries<Field<Entity>>(table)) {
    const [declared, deployed] = [wanted[key], found[key]].map((value) => plain(value, place) ?? field.unsaid);
    if (declared === undefined) continue;
    if (deployed === undefined || typeof found[key] === "symbol") unsaid.push(key);
    else if (JSON.stringify(declared) !== JSON.stringify(deployed)) settings.push({ key, declared, deployed });
  }
  return { settings, unsaid };
}

/**
 * A value in the one form that all equal ones have. AWS keeps the text of a policy as it came: a count is a number or a
 * text, and a list of one may be the value alone. The order of a list has no meaning in any of them.
 */
function plain(value: unknown, place: string): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.startsWith("{")) return plain(parseInnerJson(value) ?? `text ${value}`, place);
  if (Array.isArray(value)) {
    const each = value.map((one) => plain(one, place));
    return each.length === 1 ? each[0] : each.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  }
  if (typeof value === "object") {
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([key, one]) => [key, plain(one, place) ?? ""]));
  }
  const [, , service = "", region, account, ...name] = String(value).split(":");
  // Lambda answers with the ARN of a function, and a target may have its name.
  if (service === "lambda") return name[1];
  return name.length === 1 && `${region}:${account}` === place ? name[0] : String(value);
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
