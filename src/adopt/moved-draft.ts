import type { DraftDeclaration } from "./declare-found.ts";
import type { Move } from "./found.ts";

/** The parts of a consumer's declaration that change with its new queue. */
function changedBy({ system, options }: DraftDeclaration, { consumer, keptDead, nextDead }: Move) {
  const { deadLetter = {}, queueSettings, ...others } = Object(system.consumers[consumer]) as Declared;
  const gone = keptDead === null ? ["queue", "queueSettings"].filter((key) => Object.hasOwn(deadLetter, key)) : [];
  const kept = Object.entries(deadLetter).filter(([key]) => !gone.includes(key));
  // A template gives the dead queue of the new queue another name, unless all share one.
  const wanted = options["deadQueue"] !== "shared" ? keptDead : keptDead === null ? nextDead : null;
  const named = wanted === deadLetter["queue"] ? null : wanted;
  const dead = { ...(named === null ? {} : { queue: named }), ...Object.fromEntries(kept) };
  return {
    others,
    dead,
    gone: named === null ? gone : gone.filter((key) => key !== "queue"),
    named,
    hasSettings: queueSettings !== undefined,
  };
}

interface Declared {
  readonly deadLetter?: Readonly<Record<string, unknown>>;
  readonly queueSettings?: unknown;
}

/** The edit of the declaration that gives a consumer its new queue, for a person. */
export function editFor(draft: DraftDeclaration, move: Move): string {
  const { dead, gone, named, hasSettings } = changedBy(draft, move);
  const edits = [
    `write "queue: ${move.next}" for ${move.consumer} into the declaration`,
    ...(named === null ? [] : [`write "queue: ${named}" into its deadLetter`]),
    ...(hasSettings ? ["take its queueSettings away"] : []),
    ...(gone.length === 0
      ? []
      : [
          Object.keys(dead).length === 0
            ? "take its deadLetter away"
            : `take ${gone.join(" and ")} out of its deadLetter`,
        ]),
    "and deploy",
  ];
  return edits.join(", ");
}

/** The declaration with the new queues, as the printed steps ask for it. */
export function movedDraft(draft: DraftDeclaration, moves: readonly Move[]): DraftDeclaration {
  const consumers = moves.map((move) => {
    const { others, dead } = changedBy(draft, move);
    const deadLetter = Object.keys(dead).length === 0 ? {} : { deadLetter: dead };
    return [move.consumer, { queue: move.next, ...others, ...deadLetter }] as const;
  });
  const system = { ...draft.system, consumers: { ...draft.system.consumers, ...Object.fromEntries(consumers) } };
  const comments = moves.map(({ consumer, queue }) => ({
    path: ["consumers", consumer, "queue"],
    text: `it takes the place of ${queue}, whose arguments cannot change`,
  }));
  return { ...draft, system, comments: [...draft.comments, ...comments] };
}
