import { distance } from "fastest-levenshtein";

import type { Diagnostic, PathSegment } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Arn } from "./arn.ts";

/** A target that may have come from a file, so nothing is known of its values. */
export type Raw = Readonly<Record<string, unknown>>;

/** A name that stands where only certain others may. */
export function unknownKey(
  path: readonly PathSegment[],
  what: string,
  name: string,
  known: readonly string[],
): Diagnostic {
  const [nearest = ""] = known.toSorted((a, b) => distance(a, name) - distance(b, name));
  return diagnostic("RD616", {
    path,
    message: `${JSON.stringify(name)} is no ${what}`,
    notes: [`there are ${known.join(", ")}`],
    help: distance(nearest, name) <= 3 ? `did you mean ${nearest}?` : "remove it",
  });
}

/** A value that is not of the form it has to have. */
export function misfit(path: readonly PathSegment[], value: unknown, message: string, help: string): Diagnostic {
  return diagnostic("RD616", { path, message, value, help });
}

/** Everything that works together is in one region; what is named beside the queues is looked for in the same account, too. */
export function diagnosePlaceOf(path: readonly PathSegment[], arn: Arn, target: Raw): Diagnostic[] {
  const { region, account } = target;
  const difference = (what: string, theirs: string, ours: unknown): Diagnostic[] =>
    ours === undefined || theirs === ours
      ? []
      : [
          diagnostic("RD618", {
            path,
            message: `this is in the ${what} ${theirs}; the queues are made in ${String(ours)}`,
            notes: ["AWS takes it for something that is not there, or not allowed, in the middle of the deployment"],
            help: `name one in the ${what} ${String(ours)}, or change target.${what}`,
          }),
        ];
  return [...difference("region", arn.region, region), ...difference("account", arn.account, account)];
}

/** Whether a value has keys of its own. */
export function isMapping(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
