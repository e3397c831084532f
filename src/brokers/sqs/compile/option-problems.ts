import { type Diagnostic, type PathSegment, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { Arn } from "./arn.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";

/** A target that may come from a file. So all its values are unknown. */
export type Raw = Readonly<Record<string, unknown>>;

/**
 * Checks that a named resource is in the same region as the queues, and in the same account. Resources that work
 * together must share a region.
 */
export function diagnosePlaceOf(path: readonly PathSegment[], arn: Arn, target: Raw): Diagnostic[] {
  const { region, account } = target;
  const difference = (what: string, theirs: string, ours: unknown): Diagnostic[] =>
    ours === undefined || theirs === ours
      ? []
      : diagnosed("RD618", {
          path,
          message: `this is in the ${what} ${theirs}; the queues are made in ${wordOf(ours)}`,
          notes: ["AWS would report it as missing or denied in the middle of the deployment"],
          help: `name one in the ${what} ${wordOf(ours)}, or change target.${what}`,
        });
  return [...difference("region", arn.region, region), ...difference("account", arn.account, account)];
}
