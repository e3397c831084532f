import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { parseInnerJson } from "../../../../foreign/parse-json.ts";
import type { Arguments } from "../../prove/semantics.ts";

const noArguments: Arguments = Object.freeze({});

/**
 * Reads an argument table. An empty one may be missing, null or an empty list, which Erlang wrote up to 3.8. All empty
 * ones share one object, because there may be a million of them.
 */
export function argumentsOf(value: unknown): Arguments | null {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return noArguments;
  if (!isEntry(value)) return null;
  for (const _ in value) return value as Arguments;
  return noArguments;
}

/**
 * Reads the definition of a policy. Up to 4.1.5 `rabbitmqctl` writes that of an operator policy as a list of pairs.
 * Source: `rabbit_definitions:runtime_parameter_definition/1` (3.10.8, 4.0.5), which does not look into the value.
 */
export function definitionOf(value: unknown): Arguments | null {
  if (!Array.isArray(value)) return argumentsOf(value);
  const isPairs = value.every((each) => Array.isArray(each) && each.length === 2 && typeof each[0] === "string");
  return isPairs ? argumentsOf(Object.fromEntries(value as [string, unknown][])) : null;
}

/**
 * The arguments in the settings of a resource. The provider sends each value of `arguments` as a text, and
 * `argumentsJson` as it is.
 *
 * @returns something other than an object if they cannot be read
 */
export function writtenArguments({ arguments: given, argumentsJson }: Entry): unknown {
  if (argumentsJson === undefined || argumentsJson === null || argumentsJson === "") return given;
  const parsed = typeof argumentsJson === "string" ? parseInnerJson(argumentsJson) : undefined;
  return parsed === undefined ? argumentsJson : parsed;
}
