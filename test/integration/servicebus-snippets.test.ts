import { type Heard, waitUntil } from "@redeliver/servicebus-emulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type DeployedSystem, deploy } from "../support/servicebus/deployed-system.ts";
import { breachesOf } from "../support/servicebus/keeps-contract.ts";
import { sleep } from "../support/deployed-system.ts";
import { askedMs, ended, languages, type RunningSnippets } from "../support/servicebus/snippets.ts";

// The snippets for Microsoft's clients, as the pages show them.

const errors = { permanent: ["ValidationError"] };
const billing = (retry: object, more: object = {}): { readonly billing: object } => ({
  billing: { from: { orders: "all" }, retry: { attempts: 3, ...retry }, errors, ...more },
});
const steps = { backoff: { kind: "steps", delays: ["300ms", "700ms"] } };
const constant = { backoff: { kind: "constant", delay: "100ms" } };
const immediate = { backoff: { kind: "immediate" } };

/** The deployments. Each is a separate system. */
const deployments: Readonly<Record<string, Parameters<typeof deploy> extends [unknown, ...infer Rest] ? Rest : never>> =
  {
    scheduled: [billing(steps), { strategy: "scheduled" }],
    immediate: [billing(immediate), { strategy: "immediate" }],
    asking: [billing({ ...constant, retryAfter: { max: "1s" } })],
    named: [billing(constant), { duplicates: "10m" }],
    sessions: [billing(immediate, { order: "per-key" })],
    stopped: [billing(constant)],
  };

const messageOf = (body: string) => ({
  body: Buffer.from(body),
  messageId: body,
  subject: "order.placed",
  contentType: "text/plain",
  correlationId: "c-1",
  timeToLive: 3_600_000,
  applicationProperties: { tenant: "a" },
});

describe.each(languages)("the snippet for $language, as it stands on the page", ({ start }) => {
  const systems: Record<string, DeployedSystem> = {};
  const heard = new Map<string, { readonly all: Heard[]; readonly atMs: number[] }>();
  const endings: (() => void | Promise<void>)[] = [];
  let running: RunningSnippets | null = null;

  beforeAll(async () => {
    const finished = (end: () => void | Promise<void>): void => void endings.unshift(end);
    for (const [name, rest] of Object.entries(deployments)) {
      const system = await deploy(finished, ...rest);
      systems[name] = system;
      const own = { all: [] as Heard[], atMs: [] as number[] };
      heard.set(name, own);
      system.lab.emulator.watch({
        heard: (each) => {
          own.all.push(each);
          own.atMs.push(Date.now());
        },
      });
    }
    running = await start(finished, systems);
  });
  afterAll(async () => {
    for (const end of endings) await end();
  });

  const systemOf = (name: string): DeployedSystem => systems[name] as DeployedSystem;
  const runsOf = (name: string, body: string) => (running?.runsOf(name) ?? []).filter((each) => each.body === body);
  const attemptsOf = (name: string, ...bodies: string[]): readonly (readonly number[])[] =>
    bodies.map((body) => runsOf(name, body).map(({ attempt }) => attempt));
  const isEmpty = async (name: string): Promise<boolean> =>
    (await systemOf(name).lab.peek("shop.billing")).length === 0;

  test.concurrent.for(["scheduled", "immediate"])(
    "%s: attempts, delays and dead letters, and only the contract's operations on the wire",
    async (name) => {
      const system = systemOf(name);
      const bodies = ["success", "once", "transient", "permanent"];
      await system.publish(...bodies.map(messageOf));
      await waitUntil(async () => (await system.letters("billing")).length === 2 && (await isEmpty(name)));

      expect(attemptsOf(name, ...bodies)).toEqual([[1], [1, 2], [1, 2, 3], [1]]);
      const times = runsOf(name, "transient").map(({ beganAtMs }) => beganAtMs);
      const waits = name === "immediate" ? [0, 0] : [300, 700];
      for (const [index, waitMs] of waits.entries())
        expect((times[index + 1] ?? 0) - (times[index] ?? 0)).toBeGreaterThanOrEqual(waitMs);
      const { all = [], atMs = [] } = heard.get(name) ?? {};
      expect(breachesOf(system.contract("billing"), all, atMs, ended)).toEqual([]);

      const letters = await system.letters("billing");
      const letterOf = (text: string) => letters.find(({ body }) => String(body) === text);
      const own = {
        subject: "order.placed",
        contentType: "text/plain",
        correlationId: "c-1",
        applicationProperties: { tenant: "a" },
      };
      expect(letterOf("permanent")).toMatchObject({
        ...own,
        messageId: "permanent",
        deadLetterReason: "PERMANENT_FAILURE",
      });
      expect(letterOf("transient")).toMatchObject(own);
    },
  );

  test.concurrent("a delay from the handler, and a returned message", async () => {
    const system = systemOf("asking");
    await system.publish(messageOf("asked"), messageOf("back"));
    await waitUntil(async () => (running?.runsOf("asking").length ?? 0) === 4 && (await isEmpty("asking")));
    expect(attemptsOf("asking", "back", "asked")).toEqual([
      [1, 1],
      [1, 2],
    ]);
    const [first, second] = runsOf("asking", "asked");
    expect((second?.beganAtMs ?? 0) - (first?.beganAtMs ?? 0)).toBeGreaterThanOrEqual(askedMs);
    expect(await system.letters("billing")).toEqual([]);
  });

  test.concurrent("missing ids, and the longest ids: no copy is a duplicate of another message's", async () => {
    const system = systemOf("named");
    const bodies = ["a", "b", "c", "d"].map((name) => `transient ${name}`);
    const [a = "", b = "", c = "", d = ""] = bodies;
    const { messageId: _, ...unnamed } = messageOf(a);
    await system.publish(unnamed, { ...unnamed, body: Buffer.from(b) });
    const long = "x".repeat(127);
    await system.publish({ ...messageOf(c), messageId: `${long}1` }, { ...messageOf(d), messageId: `${long}2` });
    await waitUntil(async () => (await system.letters("billing")).length === 4 && (await isEmpty("named")));
    expect(attemptsOf("named", ...bodies)).toEqual(bodies.map(() => [1, 2, 3]));
    const originals = (await system.letters("billing")).map(
      ({ applicationProperties }) => applicationProperties?.["redeliver-original-id"],
    );
    expect(new Set(originals).size).toBe(4);
    expect(originals).toEqual(expect.arrayContaining([`${long}1`, `${long}2`]));
  });

  test.concurrent("sessions: messages come in order, retries and returns keep their places, and later sessions follow", async () => {
    const system = systemOf("sessions");
    const kinds = ["success", "once", "back", "permanent", "transient", "success again"];
    const sessions = ["a", "b"];
    await system.publish(
      ...sessions.flatMap((session) =>
        kinds.map((kind) => ({ ...messageOf(`${kind} ${session}`), sessionId: session })),
      ),
    );
    await waitUntil(async () => (await system.letters("billing")).length === 4);
    await waitUntil(() => sessions.every((session) => runsOf("sessions", `success again ${session}`).length > 0));
    for (const session of sessions) {
      const own = running?.runsOf("sessions").filter(({ body }) => body.endsWith(` ${session}`)) ?? [];
      expect(own.map(({ body, attempt }) => `${body} ${attempt}`)).toEqual([
        `success ${session} 1`,
        ...[1, 2].map((attempt) => `once ${session} ${attempt}`),
        // The client closed its session, and the message comes back unchanged.
        ...[1, 1].map((attempt) => `back ${session} ${attempt}`),
        `permanent ${session} 1`,
        ...[1, 2, 3].map((attempt) => `transient ${session} ${attempt}`),
        `success again ${session} 1`,
      ]);
    }
    // Longer than a client keeps an empty session.
    await sleep(2_500);
    await system.publish({ ...messageOf("success c"), sessionId: "c" });
    await waitUntil(() => runsOf("sessions", "success c").length === 1);
  });

  // Runs last, because it ends the snippets.
  test("a shutdown lets the running handler finish, and costs no message a delivery", async () => {
    const system = systemOf("stopped");
    await system.publish(messageOf("slow"));
    await waitUntil(() => runsOf("stopped", "slow").length === 1);
    const waiting = ["a", "b", "c"].map((name) => `success ${name}`);
    await system.publish(...waiting.map(messageOf));
    await running?.shutDown();
    const left = await system.lab.peek("shop.billing");
    const runs = running?.runsOf("stopped").map(({ body }) => body) ?? [];
    expect(runs[0]).toBe("slow");
    expect(new Set(runs).size).toBe(runs.length);
    const { all = [] } = heard.get("stopped") ?? {};
    expect(all.filter(({ kind }) => kind === "delivered")).toHaveLength(runs.length);
    // A message whose handler ran is settled, and every other is unchanged.
    const expected = waiting.filter((body) => !runs.includes(body)).map((body) => [body, 0]);
    expect(left.map(({ body, deliveryCount }) => [String(body), deliveryCount])).toEqual(expected);
  });
});
