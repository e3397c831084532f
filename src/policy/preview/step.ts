import type { Entry } from "../../brokers/entries.ts";
import { isEntry } from "../../brokers/entries.ts";
import { unknownText } from "../../brokers/pulumi-resource.ts";

/** A step of the digest in which nothing has been looked at but what every step has. */
export interface PreviewStep {
  readonly op: string;
  readonly urn: string;
  readonly oldState: Entry | null;
  readonly newState: Entry | null;
  readonly replaceReasons: readonly string[];
}

/** @returns null where one of them has another form than is known here */
export function stepsIn(list: unknown): readonly PreviewStep[] | null {
  if (list === undefined || list === null) return [];
  const read = Array.isArray(list) ? list.map(stepOf) : [null];
  return read.includes(null) ? null : (read as PreviewStep[]);
}

function stepOf(step: unknown): PreviewStep | null {
  if (!isEntry(step)) return null;
  const { op, urn, oldState = null, newState = null, replaceReasons } = step;
  const isState = (state: unknown): state is Entry | null =>
    state === null || (isEntry(state) && typeof state["type"] === "string");
  if (typeof op !== "string" || typeof urn !== "string" || !isState(oldState) || !isState(newState)) return null;
  return { op, urn, oldState, newState, replaceReasons: textsIn(replaceReasons) };
}

/** What the digest writes in the place of a secret, whatever options it was made with. Source: `massagePropertyValue`. */
const secretText = "[secret]";

/** A secret cannot be judged, no more than what is not known. */
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
