import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Handler } from "../../src/consume/index.ts";
import { openJournal, tellRedrives } from "../../src/dead-letters/index.ts";
import { commands, type Finished, openShell, type PageCommand, type PageShell, type PageStage } from "./dead-page.ts";
import { until } from "./deployed-system.ts";

class ValidationError extends Error {
  override readonly name = "ValidationError";
}

type Counts = Readonly<Record<Parameters<PageStage["count"]>[0], number>>;

/** A section of the page, on one broker. */
interface Course extends PageStage {
  readonly shell: PageShell;
  /** The number that the section's commands confirm. */
  readonly letters: number;
}

/** Types a command, and checks its work. `start` has the counts before it. */
type Step = (course: Course, command: PageCommand, start: Counts) => Promise<void>;

interface Section {
  /** Makes the letters that the section is about. */
  readonly before?: (course: Course) => Promise<void>;
  /** By the words after `dead`. */
  readonly steps: Readonly<Record<string, Step>>;
}

const alarm = "From the alarm to the last letter";
const commandOf = (wanted: string): PageCommand =>
  commands.find(({ section, verb }) => section === alarm && verb === wanted) as PageCommand;

/** The waits of the page are for people. */
const shortWait = "--wait 2s";

/** Types a command that has to succeed. */
async function typeWell({ shell }: Course, command: PageCommand, more = ""): Promise<string> {
  const said = await shell.type(command, more).ended;
  expect(said.code, said.out + said.error).toBe(0);
  return said.out;
}

async function countsOf({ count }: Course | PageStage): Promise<Counts> {
  return { dead: await count("dead"), work: await count("work"), parked: await count("parked") };
}

/** Waits for the broker to show these changes of a command, and no others. */
async function changed(course: Course, start: Counts, by: Partial<Counts> = {}): Promise<void> {
  const wanted = Object.entries(start).map(([queue, before]) => [queue, before + (by[queue as keyof Counts] ?? 0)]);
  await expect.poll(() => countsOf(course), { timeout: 30_000 }).toEqual(Object.fromEntries(wanted));
}

type Handled = readonly Readonly<Record<string, unknown>>[];

/** Runs a consumer that fails for one cause, until its work is done. Returns the orders that it has handled. */
async function consumeUntil(
  { consume }: Pick<PageStage, "consume">,
  failing: string | null,
  isDone: (handled: Handled) => boolean | Promise<boolean>,
): Promise<Handled> {
  const handled: Handled[number][] = [];
  const running = await consume(({ body }) => {
    const order = body as Handled[number];
    if (order["cause"] === failing) throw new ValidationError(String(failing));
    handled.push(order);
  });
  await until(180_000, () => isDone(handled)).finally(() => running.stop());
  return handled;
}

/** Lets a consumer handle all letters of the work queue. A queue without letters may still have them on their way. */
async function handleAll(course: PageStage): Promise<Handled> {
  const letters = await course.count("work");
  return consumeUntil(course, null, ({ length }) => length >= letters);
}

/** Lets letters die of a cause, and learns their group and one of them from the page's `dead groups`. */
async function letDie(course: Course, cause: string, letters = course.letters, more: object = {}): Promise<void> {
  const { count, publish, shell } = course;
  const wanted = letters + (await count("dead"));
  await publish(Array.from({ length: letters }, (_, order) => ({ order, cause, ...more })));
  await consumeUntil(course, cause, async () => (await count("dead")) === wanted);
  const out = await typeWell(course, commandOf("groups"));
  const row = out.split("\n").find((line) => line.includes(`ValidationError: ${cause}`)) ?? "";
  const [group = "", counted, ...others] = row.split("│").flatMap((cell) => cell.trim() || []);
  expect(counted, out).toBe(String(letters));
  Object.assign(shell.learned, { "1a2b3c4d": group, "4711": others.at(-1) });
}

/** Starts a redrive that works while other commands are typed. */
async function begin({ shell }: Course, command: PageCommand, wait = "") {
  const child = shell.type(command, wait);
  shell.learned["5e0c1d2f"] = String(await child.id());
  return child;
}

const says = (text: (course: Course, start: Counts) => string | RegExp, more = ""): Step => {
  return async (course, command, start) => {
    expect(await typeWell(course, command, more)).toMatch(text(course, start));
    await changed(course, start);
  };
};

/**
 * All letters of the section move, or are written to a file.
 *
 * @param by for each letter
 */
const moves = (by: Partial<Counts>, file?: string): Step => {
  return async (course, command, start) => {
    const { letters, shell } = course;
    const more = command.verb === "redrive" ? shortWait : "";
    const [confirmed = ""] = / --confirm \d+/.exec(command.text) ?? [];
    // Before somebody confirms the count, the same command only counts.
    const counting = { ...command, text: command.text.replace(confirmed, "") };
    if (confirmed !== "") await says(() => `${confirmed} `, more)(course, counting, start);
    await typeWell(course, command, more);
    const all = Object.entries(by).map(([queue, each]) => [queue, each * letters]);
    await changed(course, start, Object.fromEntries(all) as Partial<Counts>);
    if (file === undefined) return;
    const [, ...lines] = readFileSync(join(shell.folder, file), "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(letters + 1);
  };
};

const seesAll = says((_, { dead }) => new RegExp(`T\\d\\d:\\d\\d:\\d\\d │[^]*: ${dead} of ${dead} letters fit`));

const fromTheAlarm: Section = {
  before: async (course) => {
    await letDie(course, "no price", 8);
    await letDie(course, "unknown tax");
  },
  steps: {
    groups: seesAll,
    show: says(() => /ValidationError: unknown tax[^]*"cause":"unknown tax"/),
    plan: says(() => /^312 of 320 letters [^]* steps: 1, 10, 100, 201,/, shortWait),
    redrive: async (course, command, start) => {
      // After its first letter it waits for the consumer's word.
      const child = await begin(course, command, "--wait 1h");
      expect(await typeWell(course, commandOf("status"))).toContain("  running  ");
      const journal = await openJournal(join(course.shell.folder, "redeliver/journal.sqlite"));
      const telling = { consume: async (handler: Handler) => course.consume(handler, tellRedrives(journal)) };
      const handled = await consumeUntil(telling, null, async () => (await child.ended) !== null);
      await journal.close();
      const { code, out, error } = await child.ended;
      expect(code, out + error).toBe(0);
      await changed(course, start, { dead: -312 });
      const orders = handled.flatMap(({ cause, order }) => (cause === "unknown tax" ? [order] : []));
      expect([handled.length, new Set(orders).size]).toEqual([312, 312]);
    },
    status: says(() => {
      const steps = ["1 to 1", "2 to 11", "12 to 111", "112 to 312"].map((step) => `sends letters ${step}\n[^]*`);
      return new RegExp(`done  312 of 312 .*: deployment 97 knows .*\n[^]*${steps.join("")}done; 312`);
    }),
  },
};

const watchAndPause: Section = {
  before: async (course) => letDie(course, "no address"),
  steps: {
    status: async (course, command, start) => {
      const redrive = commandOf("redrive");
      const text = redrive.text.replace(/--confirm \d+/, `--confirm ${course.letters}`);
      await begin(course, { ...redrive, text }, "--wait 10m");
      await changed(course, start, { dead: -1, work: 1 });
      expect(await typeWell(course, command)).toContain("  running  ");
    },
    pause: says(({ letters }) => `  paused  1 of ${letters} letters`),
    resume: async (course, command, start) => {
      await begin(course, command);
      // The steps begin anew, and after the first of them it waits again.
      await changed(course, start, { dead: -1, work: 1 });
    },
    cancel: says(({ letters }) => `  cancelled  2 of ${letters} letters`),
  },
};

const sections: Readonly<Record<string, Section>> = {
  [alarm]: fromTheAlarm,
  "The dead queue": { steps: { groups: seesAll, redrive: says((_, { dead }) => ` --confirm ${dead} `) } },
  "The export": {
    before: async (course) => letDie(course, "no invoice"),
    steps: { export: moves({}, "backup.ndjson") },
  },
  "Watch, pause, go on": watchAndPause,
  "Parked letters": {
    before: async (course) => letDie(course, "no such customer"),
    steps: { park: moves({ dead: -1, parked: 1 }), redrive: moves({ parked: -1, work: 1 }) },
  },
  "Removing letters": {
    before: async ({ publish, count, letters }) => {
      const wanted = letters + (await count("dead"));
      const orders = Array.from({ length: letters }, (_, order) => ({ order }));
      await publish(orders, true);
      await until(60_000, async () => (await count("dead")) === wanted);
    },
    steps: { discard: moves({ dead: -1 }, "expired.ndjson") },
  },
  "Editing letters": {
    before: async (course) => letDie(course, "zip is a number", course.letters, { zip: 1234 }),
    steps: {
      edit: async (course, command, start) => {
        await moves({ dead: -1, work: 1 }, "originals.ndjson")(course, command, start);
        const handled = await handleAll(course);
        expect(handled.map(({ zip }) => zip)).toEqual(Array(course.letters).fill("01234"));
      },
    },
  },
  "Importing letters": {
    steps: {
      import: async (course, command, start) => {
        await moves({ dead: 1 })(course, command, start);
        expect(await typeWell(course, commandOf("groups"), "--reason EXPIRED")).toContain(`: ${course.letters} of `);
      },
    },
  },
};

/** Runs the commands of the page that are for a broker, in their order. One section is one test. */
export function runPage(broker: PageStage["broker"], open: (finished: Finished) => Promise<PageStage>): void {
  let stage: PageStage;
  let shell: PageShell;
  const ends: Parameters<Finished>[0][] = [];
  const finished: Finished = (end) => void ends.unshift(end);
  beforeAll(async () => {
    stage = await open(finished);
    shell = openShell(stage, finished);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  describe("docs/dead-letters.md", { timeout: 400_000 }, () => {
    test("has the commands that a test knows, and no others", () => {
      const known = Object.entries(sections).flatMap(([name, { steps }]) =>
        Object.keys(steps).map((verb) => [name, verb]),
      );
      const onPage = new Set(commands.map(({ section, verb }) => JSON.stringify([section, verb])));
      expect([...onPage].toSorted()).toEqual(known.map((each) => JSON.stringify(each)).toSorted());
    });

    const own = commands.filter(({ brokers }) => brokers.includes(broker));
    test.for([...Map.groupBy(own, ({ section }) => section)])("%s", async ([name, typed]) => {
      const { before, steps } = sections[name] as Section;
      const texts = typed.map(({ text }) => text).join("\n");
      const course = { ...stage, shell, letters: Number(/--confirm (\d+)/.exec(texts)?.[1] ?? 20) };
      // A consumer handles the letters that the section before has sent again.
      await handleAll(stage);
      await before?.(course);
      for (const command of typed) await (steps[command.verb] as Step)(course, command, await countsOf(course));
    });
  });
}
