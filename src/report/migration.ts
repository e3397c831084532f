import { type Target, brokerOf } from "../brokers/index.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { visible } from "../diagnostics/visible.ts";
import { isEntry } from "../foreign/entries.ts";
import type { Migration, MigrationStep } from "../migrate/plan-migration.ts";
import { renderProofs } from "./verdicts.ts";

/**
 * The steps of a migration for a person.
 *
 * @param files the declaration of each deployment
 */
export function renderMigration(migration: Migration, files: readonly string[]): string {
  const { reasons, avoided, gone, steps } = migration;
  const [first, ...others] = steps.map((step, index) => ({ step, file: visible(files[index] ?? "") }));
  if (first === undefined) return "";
  const upgrade = upgradeIn(migration);
  if (others.length === 0 && reasons.length === 0)
    return [
      ...upgrade,
      `one deployment makes this change${withIn(settingsOf(migration), "")}`,
      ...provedOf(first.step),
      ...apartIn(migration),
      "",
    ].join("\n");
  const isDrained = migration.drained.length > 0;
  const gate = gateOf(migration);
  return [
    ...(reasons.length + gone.length > 0
      ? [`No single deployment makes this change${others.length === 0 ? " under its present names" : ""}:`]
      : []),
    ...reasons.map((reason) => `   ${visible(reason)}`),
    ...gone.map(
      ({ consumer, queue }) => `   nothing would take the messages of ${visible(consumer)} from ${visible(queue)}`,
    ),
    ...(avoided.length > 0 ? ["A shorter way would weaken a promise, so --accept-weaker has to ask for it:"] : []),
    ...avoided.map(({ path, message }) => `   ${visible(path)}: ${visible(message)}`),
    ...upgrade,
    `1. Deploy ${first.file}${withIn([...settingsOf(migration), ...meanwhileOf(migration, first.step)], ".")}`,
    ...besideIn(migration),
    ...provedOf(first.step),
    ...gate,
    ...others.flatMap(({ step, file }, index) => [
      `${index + (gate.length === 0 ? 2 : 3)}. ${index === 0 && isDrained ? "Stop the code that drains, and deploy" : "Deploy"} ${file}${withIn(meanwhileOf(migration, step), ".")}`,
      ...(index === 0 ? heldUntilNow(migration) : []),
      ...provedOf(step),
    ]),
    "",
  ].join("\n");
}

function apartIn({ apart }: Migration): readonly string[] {
  if (apart === null) return [];
  return [
    "   No step ends the old system, which works on beside the new one.",
    ...apart.sources.map(({ name, newName }) =>
      newName === null
        ? `   Move the publishers of ${visible(name)}, or stop them.`
        : `   Move the publishers of ${visible(name)} to ${newName === name ? "its new place" : visible(newName)}.`,
    ),
    `   Then run the old code until these queues are empty: ${visible(apart.queues.join(", "))}`,
  ];
}

function besideIn(migration: Migration): readonly string[] {
  const { moved, gone, dropped, held, steps } = migration;
  const isHeld = (each: string): boolean => held.some(({ consumer }) => consumer === each);
  const ended = (before: string, queue: string | null): string =>
    `${visible(before)} drains ${visible(queue ?? "")}${takesStill(migration, before) ? "." : ", and gets no new messages."}`;
  return [
    ...moved.map(
      ({ consumer, before, queue, newQueue }) =>
        `   ${visible(consumer)} gets ${newQueue === null ? "a queue of each instance" : `the queue ${visible(newQueue)}${deadOf(steps, consumer)}`}. ${ended(before, queue)}`,
    ),
    ...gone.map(({ consumer, queue }) => `   ${ended(consumer, queue)}`),
    ...leavingIn(migration),
    ...dropped.map(
      (name) =>
        `   No consumer takes from ${visible(name)} any more, so the broker drops the messages that come to it.`,
    ),
    ...(moved.length === 0
      ? []
      : [
          moved.every(({ consumer }) => isHeld(consumer))
            ? "   Run the old code under the name that drains."
            : "   Start the new code of each consumer, and the old code under the name that drains.",
          ...held.map(
            ({ consumer, queue }) =>
              `   Do not start the new code of ${visible(consumer)} yet: it is in order, and messages in ${visible(queue)} come first.`,
          ),
          "   A message that is published while the bindings change can reach both queues, so it may be handled twice.",
        ]),
  ];
}

/** True if a consumer drains a queue that gets messages until publishers have left its source. */
function takesStill({ sources, moved, gone }: Migration, before: string): boolean {
  const drains = [...moved.map((each) => each.before), ...gone.map(({ consumer }) => consumer)].includes(before);
  return drains && sources.some(({ isOrdered, taken }) => isOrdered && Object.hasOwn(taken, before));
}

/** The order of each key is kept, because the old queues are empty. */
function heldUntilNow({ held }: Migration): readonly string[] {
  return held.map(({ consumer }) => `   Only now start the new code of ${visible(consumer)}.`);
}

/** The name of a dead queue that a declaration gives. */
function deadOf([first]: Migration["steps"], consumer: string): string {
  const name = first?.system.consumers[consumer]?.deadLetter?.queue;
  return name === undefined ? "" : `, with the dead queue ${visible(name)}`;
}

/** An instance with a queue of its own binds it itself, so it has to restart before the publishers move. */
function leavingIn(migration: Migration): readonly string[] {
  const {
    sources,
    held,
    steps: [first],
  } = migration;
  const taken = sources.filter((each) => Object.keys(each.taken).length > 0);
  const takers = [...new Set(taken.flatMap((each) => Object.keys(each.taken)))];
  const alone = takers.filter((consumer) => first?.system.consumers[consumer]?.delivery === "every-instance");
  return [
    ...taken.map((each) => {
      const own = Object.keys(each.taken);
      const isLeft = each.newName === null || own.some((consumer) => takesStill(migration, consumer));
      const also = isLeft ? "" : `, and from ${visible(each.newName ?? "")}`;
      return `   ${visible(own.join(", "))} ${own.length === 1 ? "takes" : "take"} from ${visible(each.name)} for now${also}.`;
    }),
    ...sources.flatMap((each) =>
      taken.includes(each) || each.newName === null
        ? []
        : [`   No consumer takes from ${visible(each.name)}. The new source is ${visible(each.newName)}.`],
    ),
    ...(alone.length === 0 ? [] : [`   Restart the instances of ${visible(alone.join(", "))} by this step.`]),
    ...taken.map(({ name, newName }) =>
      newName === null
        ? `   Move the publishers of ${visible(name)} to a source that stays, or stop them.`
        : `   Move the publishers of ${visible(name)} to ${visible(newName)}.`,
    ),
    ...held.flatMap(({ queue, newQueue, isDirect }) =>
      isDirect ? [`   Move the producers of ${visible(queue)} to ${visible(newQueue)}.`] : [],
    ),
  ];
}

function gateOf({ moved, gone, sources, held, drained }: Migration): readonly string[] {
  const longestMs = Math.max(0, ...[...moved, ...gone].map(({ longestDelayMs }) => longestDelayMs));
  const lasting =
    longestMs === 0 ? "" : `, and have been for ${formatDurationMs(longestMs)}: a retry may be on its way`;
  const empty = drained.length === 0 ? [] : [`these queues are empty${lasting}`];
  const taken = sources.filter((each) => Object.keys(each.taken).length > 0);
  const sent = held.flatMap(({ queue, isDirect }) => (isDirect ? [queue] : []));
  const left = [
    ...(taken.length === 0 ? [] : ["no program publishes to these sources any more"]),
    ...(sent.length === 0 ? [] : ["no program sends to these queues any more"]),
  ];
  const names = [drained, taken.map(({ name }) => name), sent].filter((each) => each.length > 0);
  return [...empty, ...left].flatMap((condition, index) => [
    `${index === 0 ? "2. Wait" : "   Wait"} until ${condition}:`,
    ...(names[index] ?? []).map((name) => `   ${visible(name)}`),
  ]);
}

/**
 * The settings of the target until the last deployment. The old code keeps its strategy, and `auto` could choose another.
 * Its queues also keep what they have from the target.
 */
function meanwhileOf({ steps }: Migration, { target }: MigrationStep): readonly string[] {
  const last = steps.at(-1)?.target;
  if (last === undefined || target === last) return [];
  const { asWritten = (each: Target) => each } = brokerOf(target);
  const after = new Map(Object.entries(asWritten(last)).map(([key, value]) => [key, inFlow(value)]));
  return Object.entries(asWritten(target)).flatMap(([key, value]) => {
    const flow = inFlow(value);
    return value === undefined || flow === after.get(key) ? [] : [`${key}: ${flow}`];
  });
}

/** One line of YAML. */
function inFlow(value: unknown): string {
  if (typeof value === "string" && /^[\w.-]+$/.test(value)) return value;
  if (!isEntry(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${inFlow(each)}`)
    .join(", ")} }`;
}

function settingsOf({ settings }: Migration): readonly string[] {
  return Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
}

function withIn(settings: readonly string[], end: string): string {
  return settings.length === 0 ? end : visible(`, with this in the target: ${settings.join(", ")}`);
}

/** The old topology runs on the newer broker, and its proof covers the time between. */
function upgradeIn({ upgradeTo }: Migration): readonly string[] {
  return upgradeTo === null ? [] : [`Before: upgrade the broker to ${upgradeTo}, and leave everything on it as it is.`];
}

function provedOf({ verdicts, left }: MigrationStep): readonly string[] {
  return renderProofs(verdicts, left).map((line) => `   ${line}`);
}
