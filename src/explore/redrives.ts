import { type Model, type Move, moveOf } from "./model.ts";

/** The rules of a redrive, as data: the proof follows them, and a test changes them to see the proof fail. */
export interface RedriveContract {
  /** The steps with one letter. From the first to the last, the redrive holds it. */
  readonly steps: readonly ("publish" | "confirm" | "acknowledge")[];
  /** The broker's answer to a copy that no queue takes: it returns it, or it drops and confirms it. */
  readonly unroutable: "returned" | "dropped";
  /** The generation in the copy's history: one more, the letter's own, or none because the copy has no history. */
  readonly history: "counted" | "kept" | "dropped";
  /** A letter of this generation stays. */
  readonly generations: number;
}

/** The redrive of `redeliver dead redrive`, on every broker. */
export const redriveContract: RedriveContract = Object.freeze({
  steps: ["publish", "confirm", "acknowledge"] as const,
  unroutable: "returned",
  history: "counted",
  generations: 3,
});

/** A message between redrives, or a letter in the hands of one. */
export type Redriven<State> =
  | { readonly kind: "message"; readonly at: State; readonly generation: number }
  | Held<State>;

interface Held<State> {
  readonly kind: "held";
  /** The letter in the dead queue. */
  readonly at: State;
  readonly generation: number;
  /** The number of the next step. After the last one, or when the redrive is gone, it is that of no step. */
  readonly step: number;
  readonly answer: "none" | "confirmed" | "returned" | "unknown";
  /** True if a copy is on the broker. The redrive itself does not know it. */
  readonly hasCopy: boolean;
  readonly isAcknowledged: boolean;
}

/**
 * Adds redrives without end to a model. Each may crash before and after every step, and its copies, confirms and
 * acknowledgements may be lost. Meanwhile the consumer does anything, and the topology may change.
 *
 * A redrive that crashes or gives a letter back counts as a return: a person decides to begin it again, and no failure
 * of the message does.
 */
export function withRedrives<State>(model: Model<State>, contract: RedriveContract): Model<Redriven<State>> {
  const { count } = model;
  const message = (at: State, generation: number): Redriven<State> => ({ kind: "message", at, generation });
  const isOpen = (state: Redriven<State>): boolean =>
    state.kind === "message" &&
    model.resend !== undefined &&
    state.generation < contract.generations &&
    model.situationOf(state.at).kind === "dead";
  return {
    consumer: model.consumer,
    wanted: model.wanted,
    starts: model.starts.map(({ key, states }) => ({ key, states: states.map((at) => message(at, 0)) })),
    ...(count !== undefined && {
      count: {
        ...count,
        of: ({ at }: Redriven<State>) => count.of(at),
        with: (state: Redriven<State>, number: number) => ({ ...state, at: count.with(state.at, number) }),
      },
    }),
    keyOf: ({ at, ...rest }) => `${JSON.stringify(rest)}\u0005${model.keyOf(at)}`,
    placeOf: ({ at }) => model.placeOf(at),
    situationOf: (state) => {
      const isHeld = state.kind === "held" && state.step < contract.steps.length;
      if (isHeld || isOpen(state)) return { kind: "waiting" };
      if (state.kind === "message") return model.situationOf(state.at);
      return state.hasCopy
        ? { kind: "done" }
        : { kind: "lost", why: "a redrive has it no more, and no queue has its copy" };
    },
    movesOf: (state) => {
      const own = model
        .movesOf(state.at)
        .filter(({ cause }) => state.kind === "message" || cause === "change")
        .map(({ outcomes, ...move }): Move<Redriven<State>> => ({
          ...move,
          outcomes: outcomes.map((states) => states.map((at) => ({ ...state, at }))),
        }));
      if (state.kind === "held") return [...own, ...stepsOf(model, contract, state, message)];
      const { at, generation } = state;
      const held = { kind: "held", at, generation, step: 0, answer: "none" } as const;
      const taken = { ...held, hasCopy: false, isAcknowledged: false };
      return isOpen(state) ? [...own, moveOf("time", "a redrive takes it", [[taken]])] : own;
    },
    describe: (state) =>
      state.kind === "held" ? `held by a redrive: ${model.describe(state.at)}` : model.describe(state.at),
  };
}

function stepsOf<State>(
  model: Model<State>,
  { steps, unroutable, history }: RedriveContract,
  state: Held<State>,
  message: (at: State, generation: number) => Redriven<State>,
): readonly Move<Redriven<State>>[] {
  const { at, generation, step, answer, isAcknowledged } = state;
  const next = (change: Partial<Held<State>>): Held<State> => ({ ...state, step: step + 1, ...change });
  const gone: Held<State> = { ...state, step: steps.length };
  const back = isAcknowledged ? gone : message(at, generation);
  const crash = moveOf("return", "the redrive crashes", [[back]]);
  switch (steps[step]) {
    case "publish": {
      const added = { counted: generation + 1, kept: generation, dropped: 0 }[history];
      const copies = (model.resend?.(at) ?? []).map((copy) => message(copy, added));
      const outcomes = [
        [next({ answer: "confirmed", hasCopy: true }), ...copies],
        [next({ answer: "unknown", hasCopy: true }), ...copies],
        [next({ answer: "unknown" })],
        [next({ answer: "returned" })],
        // Somebody has deleted the queue.
        [next({ answer: unroutable === "returned" ? "returned" : "confirmed" })],
      ];
      return [crash, moveOf("time", "the redrive publishes a copy", outcomes)];
    }
    case "confirm":
      if (answer === "confirmed") return [crash, moveOf("time", "the copy is confirmed", [[next({})]])];
      if (answer === "returned") return [crash, moveOf("return", "the copy is returned or refused", [[back]])];
      return [
        crash,
        moveOf("return", "the answer is unknown, so it is sent again", [
          [{ ...state, step: steps.indexOf("publish"), answer: "none" }],
        ]),
      ];
    case "acknowledge":
      return [crash, moveOf("time", "the redrive acknowledges it", [[next({ isAcknowledged: true })]])];
    case undefined:
      return [];
    default:
      return steps[step] satisfies never;
  }
}
