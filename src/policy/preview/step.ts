import { type Entry, isEntry } from "../../foreign/entries.ts";
import { unknownText } from "../../foreign/pulumi-resource.ts";

/** A step of the digest, with the fields of every step. */
export type PreviewStep = NonNullable<ReturnType<typeof stepOf>>;

/** @returns null if a field has an unknown form */
export function stepsIn(list: unknown): readonly PreviewStep[] | null {
  if (list === undefined || list === null) return [];
  const read = Array.isArray(list) ? list.map(stepOf) : [null];
  return read.includes(null) ? null : (read as PreviewStep[]);
}

function stepOf(step: unknown) {
  if (!isEntry(step)) return null;
  const { op, urn, oldState = null, newState = null, replaceReasons } = step;
  const isState = (state: unknown): state is Entry | null =>
    state === null || (isEntry(state) && typeof state["type"] === "string");
  if (typeof op !== "string" || typeof urn !== "string" || !isState(oldState) || !isState(newState)) return null;
  return { op, urn, oldState, newState, replaceReasons: textsIn(replaceReasons) };
}

/** The digest writes this in the place of a secret under all options. Source: `massagePropertyValue`. */
const secretText = "[secret]";

/** Rules judge a secret as little as an unknown value. */
export function propertiesOf(properties: unknown): Entry {
  return isEntry(properties) ? (withoutSecrets(properties) as Entry) : {};
}

function withoutSecrets(value: unknown): unknown {
  if (value === secretText) return unknownText;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isEntry(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}

/** The texts of a list; none where it is no list. */
export function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
}
