import type { FoundSystem } from "../adopt/found.ts";
import { nothingToAdopt } from "../adopt/nothing-to-adopt.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";

/**
 * Leaves out the consumers whose work queues another program owns.
 *
 * @param others the queues that the input only refers to
 * @param inferOne infers a queue alone, because a consumer may have another name than its queue
 */
export function withoutOthers(
  found: FoundSystem,
  others: readonly string[],
  inferOne: (queue: string) => Checked<FoundSystem>,
): Checked<FoundSystem> {
  const owned = new Map(
    others.flatMap((place) => {
      const alone = inferOne(place);
      return alone.ok ? alone.value.consumers.map(({ queue }) => [queue, place] as const) : [];
    }),
  );
  const out = found.consumers.flatMap(({ queue }) => owned.get(queue) ?? []);
  if (out.length === 0) return accepted(found);
  const refused = [
    ...(found.refused ?? []),
    ...out.map((place) => ({
      place,
      fact: "it is left out: the state only reads it, so another program owns it; adopt it from the state of that one",
    })),
  ];
  const consumers = found.consumers.filter(({ queue }) => !owned.has(queue));
  if (consumers.length === 0) return nothingToAdopt([], found.consumers.length, "", refused);
  const unsaid = found.unsaid.filter(({ place }) => !out.includes(place));
  return accepted({ ...found, consumers, refused, unsaid });
}
