import { purposeOf } from "../foreign/purpose.ts";
import type { Unsaid } from "./found.ts";

/** The queues of these that are left out because of their names, with the reason. */
export function copiesAmong(names: readonly string[]): readonly Unsaid[] {
  return names
    .filter((name) => purposeOf(name) === "copies")
    .map((place) => ({ place, fact: "by its name it holds copies or replies, and nobody retries these" }));
}
