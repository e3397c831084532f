import type { RegisteredResource } from "../pulumi.ts";

// The actions of Pulumi's engine on a program and a state, as far as they affect messages. It is small enough to read
// beside the engine's own source: `step_generator.go` (continueStepsFromDiff, GenerateDeletes, ScheduleDeletes) and
// `step.go` (DeleteStep.Apply).

/** A resource as the state keeps it. */
export type StateEntry = RegisteredResource & {
  /** It was replaced, and the engine still has to delete it. */
  readonly isReplaced: boolean;
};

/** A provider's reaction to a difference between old and new inputs. */
export type Difference = "same" | "update" | "replace";

export interface Provider {
  readonly diff: (old: RegisteredResource, now: RegisteredResource) => Difference;
  /** True if it deletes before it creates, unless the program decides. */
  readonly deletesFirst: (type: string) => boolean;
}

/** Carries out the steps. Each may throw, like a provider when the broker refuses. */
export interface Backend {
  readonly create: (resource: RegisteredResource) => Promise<void> | void;
  readonly update: (old: RegisteredResource, now: RegisteredResource) => Promise<void> | void;
  readonly remove: (resource: RegisteredResource) => Promise<void> | void;
}

export interface UpdateOptions {
  readonly provider: Provider;
  readonly backend: Backend;
  readonly skipPreview: boolean;
  /** The reason that the component's hook refuses the update; null if it does not. */
  readonly refusal: string | null;
  /** Chooses one of several possible next steps, because the engine promises no order among them. */
  readonly pick: (count: number) => number;
  /** Called before each step that changes something. If it throws, the update ends there. */
  readonly beforeStep?: (step: string) => void;
}

export interface UpdateResult {
  readonly state: readonly StateEntry[];
  /** The reason that the update ended early; null if it reached its end. */
  readonly error: string | null;
  /** The steps on the broker, in order: `create queue shop.billing`. */
  readonly steps: readonly string[];
}

/**
 * Runs one update.
 *
 * @param program the resources that the program registers; empty for `destroy`
 */
export async function runUpdate(
  state: readonly StateEntry[],
  program: readonly RegisteredResource[],
  options: UpdateOptions,
): Promise<UpdateResult> {
  if (!options.skipPreview) {
    const error = previewError(state, program, options);
    if (error !== null) return { state, error, steps: [] };
  }
  const run: Run = { entries: [...state], steps: [], options };
  const error = (await register(run, program)) ?? (await deleteRest(run, program));
  return { state: run.entries, error, steps: run.steps };
}

interface Run {
  readonly entries: StateEntry[];
  readonly steps: string[];
  readonly options: UpdateOptions;
}

const nameOf = ({ type, name }: RegisteredResource): string => `${type.split(":").at(-1)} ${name}`;

/** True for a resource on the broker: neither a component nor a provider. */
const isProvided = ({ type, custom }: RegisteredResource): boolean => custom && !type.startsWith("pulumi:");

/** A preview does the same without changes, so it meets every refusal that needs no broker. */
function previewError(
  state: readonly StateEntry[],
  program: readonly RegisteredResource[],
  { provider, refusal }: UpdateOptions,
): string | null {
  if (refusal !== null) return refusal;
  const urns = new Set(program.map(({ urn }) => urn));
  for (const now of program) {
    const old = state.find(({ urn, isReplaced }) => urn === now.urn && !isReplaced);
    if (!isProvided(now)) continue;
    if (old !== undefined && provider.diff(old, now) === "replace" && old.protect && now.protect)
      return `protected, and would be replaced: ${nameOf(now)}`;
  }
  const gone = state.find(({ urn, protect, isReplaced }) => !urns.has(urn) && protect && !isReplaced);
  return gone === undefined ? null : `protected, and would be deleted: ${nameOf(gone)}`;
}

/** The engine registers a resource when all its dependencies are done. Any ready resource may be the next. */
async function register(run: Run, program: readonly RegisteredResource[]): Promise<string | null> {
  const done = new Set<string>();
  const waiting = [...program];
  let error: string | null = null;
  while (waiting.length > 0) {
    const ready = waiting.filter((each) =>
      [...each.dependencies, ...(each.parent === "" ? [] : [each.parent])].every((urn) => done.has(urn)),
    );
    const [next] = ready.slice(run.options.pick(ready.length));
    if (next === undefined) return error ?? "the program waits for what it never registers";
    waiting.splice(waiting.indexOf(next), 1);
    const failure = await applyRegistration(run, next);
    if (failure === null) done.add(next.urn);
    else error ??= failure;
    // Steps that began beside the failure still finish: here, a random number of the ready ones.
    if (error !== null && run.options.pick(2) === 0) return error;
  }
  return error;
}

async function applyRegistration(run: Run, now: RegisteredResource): Promise<string | null> {
  const { entries, options } = run;
  const index = entries.findIndex(({ urn, isReplaced }) => urn === now.urn && !isReplaced);
  const old = entries[index];
  const entry: StateEntry = { ...now, isReplaced: false };
  if (!isProvided(now)) {
    if (old !== undefined && options.refusal !== null && now.type.startsWith("redeliver:")) return options.refusal;
    if (old === undefined) entries.push(entry);
    else entries[index] = entry;
    return null;
  }
  if (old === undefined) {
    const failure = await step(run, `create ${nameOf(now)}`, () => options.backend.create(now));
    if (failure === null) entries.push(entry);
    return failure;
  }
  switch (options.provider.diff(old, now)) {
    case "same":
      entries[index] = entry;
      return null;
    case "update": {
      const failure = await step(run, `update ${nameOf(now)}`, () => options.backend.update(old, now));
      if (failure === null) entries[index] = entry;
      return failure;
    }
    case "replace":
      return replace(run, old, entry);
  }
}

async function replace(run: Run, old: StateEntry, now: StateEntry): Promise<string | null> {
  const { entries, options } = run;
  if (old.protect && now.protect) return `protected, and would be replaced: ${nameOf(now)}`;
  const deletesFirst = now.deleteBeforeReplace ?? options.provider.deletesFirst(now.type);
  if (deletesFirst && !old.retainOnDelete) {
    const failure = await step(run, `delete ${nameOf(old)}`, () => options.backend.remove(old));
    if (failure !== null) return failure;
  }
  const failure = await step(run, `create ${nameOf(now)}`, () => options.backend.create(now));
  if (failure !== null) return failure;
  const index = entries.indexOf(old);
  if (deletesFirst) entries[index] = now;
  else entries.splice(index, 1, now, { ...old, isReplaced: true });
  return null;
}

/**
 * Deletes the resources that the program no longer has, and the replaced ones. A dependent resource goes first, level
 * by level.
 */
async function deleteRest(run: Run, program: readonly RegisteredResource[]): Promise<string | null> {
  const urns = new Set(program.map(({ urn }) => urn));
  const condemned = run.entries.filter(({ urn, isReplaced }) => isReplaced || !urns.has(urn));
  const condemnedUrns = new Set(condemned.map(({ urn }) => urn));
  for (const level of levelsOf(condemned).toReversed()) {
    let error: string | null = null;
    while (level.length > 0) {
      const [next] = level.splice(run.options.pick(level.length), 1);
      if (next === undefined) break;
      const failure = await applyDeletion(run, next, condemnedUrns);
      if (failure === null) run.entries.splice(run.entries.indexOf(next), 1);
      else error ??= failure;
    }
    // The whole level runs at once, so its other steps still finish.
    if (error !== null) return error;
  }
  return null;
}

async function applyDeletion(run: Run, entry: StateEntry, condemned: ReadonlySet<string>): Promise<string | null> {
  if (entry.protect && !entry.isReplaced) return `protected, and would be deleted: ${nameOf(entry)}`;
  if (!isProvided(entry) || entry.retainOnDelete) return null;
  if (condemned.has(entry.deletedWith ?? "")) return null;
  return step(run, `delete ${nameOf(entry)}`, () => run.options.backend.remove(entry));
}

/** The first level depends on no other deleted resource. Each further level depends only on the levels before it. */
function levelsOf(condemned: readonly StateEntry[]): StateEntry[][] {
  const levels: StateEntry[][] = [];
  let rest = [...condemned];
  while (rest.length > 0) {
    const left = new Set(rest.map(({ urn }) => urn));
    const free = rest.filter((each) =>
      [...each.dependencies, each.parent, each.provider.split("::").slice(0, 4).join("::")].every(
        (urn) => urn === each.urn || !left.has(urn),
      ),
    );
    if (free.length === 0) throw new Error("what is to be deleted depends on itself");
    levels.push(free);
    rest = rest.filter((each) => !free.includes(each));
  }
  return levels;
}

async function step(run: Run, name: string, act: () => Promise<void> | void): Promise<string | null> {
  try {
    run.options.beforeStep?.(name);
    await act();
    run.steps.push(name);
    return null;
  } catch (error) {
    return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
