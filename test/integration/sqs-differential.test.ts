import { describe, expect, test } from "vitest";

import type { SqsEmulator } from "../support/sqs/emulators.ts";
import { createLab } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { playCourse } from "../support/sqs/play-course.ts";
import { inexplicable, type Observation, type RandomCourse, randomCourses } from "../support/sqs/random-course.ts";

// A program acts on one message at random, by a seed. The semantics must allow everything that an emulator shows.

const courses = randomCourses(20_261_122, 70);

/** The same queues with one rule broken. The observations of some course must expose each of these. */
const mutations: Readonly<Record<string, (course: RandomCourse) => RandomCourse>> = {
  "one receive more": ({ queues, actions }) => ({
    actions,
    queues: queues.map((queue) => {
      const { redrive } = queue;
      return {
        ...queue,
        redrive: redrive === null ? null : { ...redrive, maxReceiveCount: redrive.maxReceiveCount + 1 },
      };
    }),
  }),
  "no redrive": ({ queues, actions }) => ({ actions, queues: queues.map((queue) => ({ ...queue, redrive: null })) }),
  "a receive that hides nothing": ({ queues, actions }) => ({
    actions,
    queues: queues.map((queue) => ({ ...queue, visibilityTimeoutSeconds: 0 })),
  }),
};

describe.concurrent.each(sqsEmulators())("random courses on $name $version", (emulator) => {
  test("the semantics allows every observation, and a broken semantics does not", async () => {
    const tag = `course-${Math.trunc(performance.timeOrigin)}`;
    const seen = await inTurns(courses, async (course, index) => playOn(emulator, course, `${tag}-${index}`));
    const differences = seen.flatMap((observations, index) => {
      const course = courses[index] as RandomCourse;
      const at = inexplicable(course, observations);
      return at === null ? [] : [{ index, at, queues: course.queues, observations }];
    });
    expect(differences).toEqual([]);
    const all = seen.flat();
    const deliveries = all.filter((each) => each.kind === "received" && each.receiveCount !== null).length;
    expect(deliveries, `of ${all.length} observations`).toBeGreaterThan(90);
    for (const [name, mutate] of Object.entries(mutations)) {
      const caught = seen.filter((observations, index) => {
        const mutant = mutate(courses[index] as RandomCourse);
        return inexplicable(mutant, observations) !== null;
      });
      expect(caught.length, name).toBeGreaterThan(5);
    }
  });
});

/** Deletes its queues at the end, because other tests read all queues of the emulator. */
async function playOn(emulator: SqsEmulator, course: RandomCourse, tag: string): Promise<readonly Observation[]> {
  const lab = createLab(emulator);
  try {
    return await playCourse(lab, course, tag);
  } finally {
    await lab.dispose();
  }
}

/** Plays a few courses at a time: they mostly wait, and other tests measure time on the same emulators. */
async function inTurns(
  all: readonly RandomCourse[],
  play: (course: RandomCourse, index: number) => Promise<readonly Observation[]>,
): Promise<readonly (readonly Observation[])[]> {
  const results: (readonly Observation[])[] = [];
  const open = all.entries();
  const worker = async (): Promise<void> => {
    for (const [index, course] of open) results[index] = await play(course, index);
  };
  await Promise.all(Array.from({ length: 5 }, worker));
  return results;
}
