import { valueAt } from "../diagnostics/schema-issues.ts";
import type { DraftDeclaration } from "./declare-found.ts";
import type { Move } from "./found.ts";

/** True if the new queue has the dead queue of the old one, because the declaration names it and it can stay. */
export function keepsDeadQueue({ system }: DraftDeclaration, { consumer, hasFixedDead }: Move): boolean {
  return !hasFixedDead && valueAt(system.consumers[consumer], ["deadLetter", "queue"]) !== undefined;
}

/** The part of `deadLetter` that a consumer gives up for its new queue: the name of a queue that cannot stay. */
export function leftDeadLetter(
  { system }: DraftDeclaration,
  { consumer, hasFixedDead }: Move,
): "deadLetter" | "queue" | null {
  const declared = Object.keys(Object(valueAt(system.consumers[consumer], ["deadLetter"])));
  if (!hasFixedDead || !declared.includes("queue")) return null;
  return declared.length === 1 ? "deadLetter" : "queue";
}

/** The declaration with the new queues, as the printed steps ask for it. */
export function movedDraft(draft: DraftDeclaration, moves: readonly Move[]): DraftDeclaration {
  const consumers = moves.map((move) => {
    const { deadLetter, ...declared } = Object(draft.system.consumers[move.consumer]) as Record<string, unknown>;
    const { queue: _, ...kept } = Object(deadLetter) as Record<string, unknown>;
    const left = leftDeadLetter(draft, move);
    const dead =
      left === "deadLetter" || deadLetter === undefined ? {} : { deadLetter: left === null ? deadLetter : kept };
    return [move.consumer, { queue: move.next, ...declared, ...dead }] as const;
  });
  const system = { ...draft.system, consumers: { ...draft.system.consumers, ...Object.fromEntries(consumers) } };
  const comments = moves.map(({ consumer, queue }) => ({
    path: ["consumers", consumer, "queue"],
    text: `it takes the place of ${queue}, whose arguments cannot change`,
  }));
  return { ...draft, system, comments: [...draft.comments, ...comments] };
}
