import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import type { Objections } from "./choose-strategy.ts";

/**
 * States the objections against the wanted strategy, or against all of them, and names one edit.
 *
 * @param target as the command line writes it
 * @param upgrade more ways out, such as a newer version of the broker
 */
export function refuseStrategy<Name extends string>(
  consumer: string,
  target: string,
  wanted: Name | "auto",
  objections: Objections<Name>,
  upgrade: readonly string[] = [],
): Diagnostic {
  if (wanted !== "auto") {
    const keeps = [...objections].filter(([, each]) => each.length === 0).map(([name]) => name);
    const other = keeps.length === 0 ? [] : [`use strategy ${keeps.join(" or ")}, which keeps it on this target`];
    const [first, ...others] = objections.get(wanted) ?? [];
    return diagnostic("RD202", {
      path: ["consumers", consumer, ...(first?.path ?? [])],
      message: `${wanted} on ${target} cannot keep this: ${first?.reason ?? ""}`,
      notes: others.map(({ reason }) => `also: ${reason}`),
      help: [...other, ...upgrade].join(", or ") || "no strategy of this target keeps it; change the declaration",
    });
  }
  const [closest, objected = []] = [...objections].toSorted(([, a], [, b]) => a.length - b.length)[0] ?? [];
  const path = objected[0]?.path ?? [];
  const place = path.length === 0 ? "the consumer" : path.join(".");
  const edits = objected.map(({ edit }) => edit ?? `change ${place}`).join(" and ");
  return diagnostic("RD203", {
    path: ["consumers", consumer, ...path],
    message: `${target} has no strategy that keeps the declaration of ${consumer}`,
    notes: objectionsInWords(objections),
    help: [...upgrade, `${edits} for strategy ${closest}, which comes closest`].join(", or "),
  });
}

/** One line for each strategy. */
export function objectionsInWords<Name extends string>(objections: Objections<Name>): string[] {
  return [...objections].map(([name, each]) => `${name}: ${each.map(({ reason }) => reason).join("; ")}`);
}
