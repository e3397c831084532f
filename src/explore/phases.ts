import { type Model, type Move, type Subject, moveOf } from "./model.ts";

/** A time during a change. Everything that may be true of the topology then is true for all of it. */
export interface Phase<State> {
  /** In a few words, for a trace. */
  readonly name: string;
  /** The numbers of the phases that may follow, all of them higher. Left out if that is the next one alone. */
  readonly next?: readonly number[];
  /** One for each contract that running consumers may have. All have the same topology. */
  readonly models: readonly [Model<State>, ...Model<State>[]];
}

/** A state of a message, and the phase in which it came into that state. */
export interface InPhase<State> {
  readonly phase: number;
  readonly at: State;
}

/**
 * Joins the phases of a change to one model. A next phase may begin before any move of a message, and no phase comes
 * back. So every phase begins with a message in every place that the phases before can bring it to.
 *
 * Messages are published by the first contract of the first phase, and by the last contract of the last one. The model
 * demands the weaker of the demands of all phases.
 *
 * @param phases in their order, at least one; each knows all places of the phases before it
 */
export function joinPhases<State>(
  consumer: string,
  phases: readonly [Phase<State>, ...Phase<State>[]],
): Model<InPhase<State>> {
  const all = phases.flatMap(({ models }) => models);
  const modelIn = ({ phase }: InPhase<State>): Model<State> => (phases[phase] as Phase<State>).models[0];
  const last = phases.at(-1) ?? phases[0];
  const longest = all.map(({ wanted }) => wanted.attempts).toSorted((a, b) => b.length - a.length)[0] ?? [];
  return {
    consumer,
    starts: [...startsOf(phases[0].models[0], 0), ...startsOf(last.models.at(-1) ?? last.models[0], phases.length - 1)],
    // No later phase may tell two states apart.
    keyOf: ({ phase, at }) =>
      [phase, ...phases.slice(phase).map(({ models: [model] }) => model.keyOf(at))].join("\u0004"),
    ...countIn(all),
    placeOf: (state) => modelIn(state).placeOf(state.at),
    situationOf: (state) => modelIn(state).situationOf(state.at),
    movesOf: ({ phase, at }) => {
      const { models } = phases[phase] as Phase<State>;
      const own = models.flatMap((model, index) =>
        model
          .movesOf(at)
          // The broker's own moves do not depend on a contract.
          .filter(({ cause }) => index === 0 || (cause !== "time" && cause !== "delivery"))
          .map((move): Move<InPhase<State>> => {
            const outcomes = move.outcomes.map((states) => states.map((next) => ({ phase, at: next })));
            return { ...move, outcomes };
          }),
      );
      const following = nextOf(phases, phase).map((number) =>
        moveOf("change", phases[number]?.name ?? "", [[{ phase: number, at }]]),
      );
      return [...own, ...following];
    },
    ...(all.every(({ resend }) => resend !== undefined) && {
      resend: (letter: InPhase<State>) =>
        (modelIn(letter).resend?.(letter.at) ?? []).map((at) => ({ phase: letter.phase, at })),
    }),
    describe: (state) => modelIn(state).describe(state.at),
    wanted: {
      attempts: longest.map((attempt, index) => {
        const declared = all.flatMap(({ wanted }) => wanted.attempts[index] ?? []);
        return {
          ...attempt,
          delayMs: Math.min(...declared.map(({ delayMs }) => delayMs)),
          delayLatestMs: Math.max(...declared.map(({ delayMs, delayLatestMs = delayMs }) => delayLatestMs)),
        };
      }),
      crashDeliveries: Math.max(...all.map(({ wanted }) => wanted.crashDeliveries)),
      maxDeliveries: Math.max(...all.map(({ wanted }) => wanted.maxDeliveries)),
      returnsCost: all.some(({ wanted }) => wanted.returnsCost),
      waitGrainMs: Math.max(...all.map(({ wanted }) => wanted.waitGrainMs)),
    },
  };
}

/** The count of one model stands for that of each. If two differ, they go up together. */
function countIn<State>(models: readonly Model<State>[]): Pick<Model<InPhase<State>>, "count"> {
  const [count] = models.flatMap((model) => model.count ?? []);
  if (count === undefined) return {};
  const limits = [...new Set(models.flatMap((model) => model.count?.most ?? []))].toSorted((a, b) => a - b);
  return {
    count: {
      of: ({ at }) => count.of(at),
      with: ({ phase, at }, number) => ({ phase, at: count.with(at, number) }),
      most: limits.at(-1) ?? 0,
      lower: limits.slice(0, -1),
    },
  };
}

function nextOf(phases: readonly Pick<Phase<never>, "next">[], phase: number): readonly number[] {
  return phases[phase]?.next ?? (phase + 1 < phases.length ? [phase + 1] : []);
}

function startsOf<State>({ starts }: Model<State>, phase: number): Model<InPhase<State>>["starts"] {
  return starts.map(({ key, states }) => ({ key, states: states.map((at) => ({ phase, at })) }));
}

/** A phase of one consumer, before its models are built. */
export interface PhaseSubject<State> {
  readonly name: string;
  readonly next?: readonly number[];
  /** One for each contract that running consumers may have. */
  readonly subjects: readonly [Subject<State>, ...Subject<State>[]];
}

/** A change of one consumer as a subject of its own. */
export function subjectOfPhases<State>(
  consumer: string,
  phases: readonly [PhaseSubject<State>, ...PhaseSubject<State>[]],
): Subject<InPhase<State>> {
  return {
    consumer,
    shape: () => phases.flatMap(({ subjects }) => subjects.map(({ shape }) => shape())).join("\u0004"),
    model: () => {
      const [first, ...others] = phases.map(({ subjects: [main, ...more], ...phase }): Phase<State> => {
        return { ...phase, models: [main.model(), ...more.map(({ model }) => model())] };
      });
      return joinPhases(consumer, [first as Phase<State>, ...others]);
    },
  };
}
