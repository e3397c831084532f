import { isEntry } from "../../entries.ts";
import type { Arguments } from "../semantics.ts";

const noArguments: Arguments = Object.freeze({});

/**
 * An argument table. One that is empty may be missing, null or an empty list, which is how Erlang wrote it up to 3.8.
 * All empty ones are one object: there may be a million of them.
 */
export function argumentsOf(value: unknown): Arguments | null {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return noArguments;
  if (!isEntry(value)) return null;
  for (const _ in value) return value as Arguments;
  return noArguments;
}

/**
 * The definition of a policy. Up to 4.1.5 `rabbitmqctl` writes that of an operator policy as a list of pairs.
 * Source: `rabbit_definitions:runtime_parameter_definition/1` (3.10.8, 4.0.5), which does not look into the value.
 */
export function definitionOf(value: unknown): Arguments | null {
  if (!Array.isArray(value)) return argumentsOf(value);
  const isPairs = value.every((each) => Array.isArray(each) && each.length === 2 && typeof each[0] === "string");
  return isPairs ? argumentsOf(Object.fromEntries(value as [string, unknown][])) : null;
}
