import type { Model } from "../../src/explore/model.ts";
import { type RedriveContract, redriveContract } from "../../src/explore/redrives.ts";
import type { Violation } from "../../src/verify/verdict.ts";

/** A redrive that a person might write, and the promise that it breaks. */
export interface RedriveMutant<State> {
  readonly name: string;
  readonly breaks: Violation["property"];
  readonly contract: RedriveContract;
  readonly model: Model<State>;
}

/**
 * @param model of the consumer whose letters are sent again
 * @param neighbour of another consumer of the same source
 */
export function redriveMutantsOf<State extends object>(
  model: Model<State>,
  neighbour: Model<State>,
): readonly RedriveMutant<State>[] {
  const ruled = (
    name: string,
    breaks: Violation["property"],
    change: Partial<RedriveContract>,
  ): RedriveMutant<State> => ({ name, breaks, contract: { ...redriveContract, ...change }, model });
  const sending = (
    name: string,
    breaks: Violation["property"],
    resend: NonNullable<Model<State>["resend"]>,
  ): RedriveMutant<State> => ({ name, breaks, contract: redriveContract, model: { ...model, resend } });
  const published = [model, neighbour].flatMap(({ starts }) => starts[0]?.states ?? []);
  const fresh = (letter: State): readonly State[] => model.resend?.(letter) ?? [];
  return [
    ruled("the letter is acknowledged before the confirm", "no-loss", { steps: ["publish", "acknowledge", "confirm"] }),
    ruled("the letter is acknowledged before its copy is published", "no-loss", {
      steps: ["acknowledge", "publish", "confirm"],
    }),
    ruled("nothing waits for the confirm", "no-loss", { steps: ["publish", "acknowledge"] }),
    ruled("a copy that no queue takes counts as sent", "no-loss", { unroutable: "dropped" }),
    ruled("the generation is not counted", "no-loop", { history: "kept" }),
    ruled("the copy has no history", "no-loop", { history: "dropped" }),
    sending("the copy goes to the shared source", "isolation", () => published),
    sending(
      "the copy goes to the work queue of another consumer",
      "isolation",
      () => neighbour.starts[0]?.states ?? [],
    ),
    sending("the copy goes to the dead queue", "isolation", (letter) => [letter]),
    sending("the copy is published twice", "reachable", (letter) => [...fresh(letter), ...fresh(letter)]),
    sending("the copy keeps the records of its deaths", "attempts", (letter) =>
      fresh(letter).map((copy) => withDeathsOf(letter, copy)),
    ),
  ];
}

/** The fields of each broker's message by which attempts, deaths and copies are counted. */
const records = new Set(["deaths", "firstDeath", "lastDeath", "headers", "properties", "messageId"]);

/** The copy, with everything of the letter that the broker or a consumer takes as a record of its deaths. */
function withDeathsOf<State extends object>(letter: State, copy: State): State {
  const inside = (whole: object, name: string): object => (whole as Record<string, object>)[name] ?? {};
  const kept = (from: object, to: object): object => ({
    ...to,
    ...Object.fromEntries(Object.entries(from).filter(([name]) => records.has(name))),
  });
  if (!("message" in copy)) return kept(letter, copy) as State;
  const [old, message] = [inside(letter, "message"), inside(copy, "message")];
  return { ...copy, message: { ...message, content: kept(inside(old, "content"), inside(message, "content")) } };
}
