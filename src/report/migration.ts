import { formatDurationMs } from "../declare/duration.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Migration, MigrationStep } from "../migrate/plan-migration.ts";
import { renderProofs } from "./verdicts.ts";

/**
 * The steps of a migration for a person.
 *
 * @param files the declaration of each deployment
 */
export function renderMigration(
  { reasons, moved, gone, beside, drained, last }: Migration,
  files: readonly string[],
): string {
  if (beside === null) return ["one deployment makes this change", ...provedOf(last), ""].join("\n");
  const [first = "", second = ""] = files;
  const longestMs = Math.max(0, ...[...moved, ...gone].map(({ longestDelayMs }) => longestDelayMs));
  return [
    "No single deployment makes this change:",
    ...reasons.map((reason) => `   ${visible(reason)}`),
    ...gone.map(
      ({ consumer, queue }) => `   nothing would take the messages of ${visible(consumer)} from ${visible(queue)}`,
    ),
    `1. Deploy ${visible(first)}, with this in the target: strategies: ${visible(strategiesOf(beside))}`,
    ...moved.map(
      ({ consumer, before, queue, newQueue }) =>
        `   ${visible(consumer)} gets the queue ${visible(newQueue ?? "")}. ${visible(before)} drains ${visible(queue ?? "")}, and gets no new messages.`,
    ),
    ...gone.map(({ consumer, queue }) => `   ${visible(consumer)} drains ${visible(queue)}, and gets no new messages.`),
    ...(moved.length === 0
      ? []
      : [
          "   Start the new code of each consumer, and the old code under the name that drains.",
          "   A message that is published while the bindings change can reach both queues, so it may be handled twice.",
        ]),
    ...provedOf(beside),
    `2. Wait until these queues are empty${longestMs === 0 ? "" : `, and have been for ${formatDurationMs(longestMs)}: a retry may be on its way`}:`,
    ...drained.map((name) => `   ${visible(name)}`),
    `3. Stop the code that drains, and deploy ${visible(second)}.`,
    ...provedOf(last),
    "",
  ].join("\n");
}

/** The old code keeps its strategy, and `auto` could choose another. */
function strategiesOf({ target: { strategies = {} } }: MigrationStep): string {
  const named = Object.entries(strategies).map(([consumer, strategy]) => `${JSON.stringify(consumer)}: ${strategy}`);
  return `{ ${named.join(", ")} }`;
}

function provedOf({ verdicts, left }: MigrationStep): readonly string[] {
  return renderProofs(verdicts, left).map((line) => `   ${line}`);
}
