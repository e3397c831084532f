import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "vitest";

import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { codeOf } from "../support/code-of.ts";
import { type DeployedSystem, deploy } from "../support/servicebus/deployed-system.ts";
import type { Heard } from "../support/servicebus/emulator/watcher.ts";
import { breachesOf, type Ended } from "../support/servicebus/keeps-contract.ts";
import { waitUntil as waitFor } from "../support/servicebus/wait.ts";

const waitUntil = (condition: () => boolean | Promise<boolean>): Promise<void> => waitFor(condition, 90_000);
const patient = { timeout: 120_000 };

type Handle = (body: Buffer, attempt: number) => Promise<void>;
interface Snippet {
  readonly run: (connectionString: string, handle: Handle, signal?: AbortSignal) => Promise<void>;
  readonly RetryAfter: new (delayMs: number) => Error;
  readonly HandBack: new () => Error;
}

/** The code of the page, as a module of its own: its text as it is printed. */
async function load(finished: (end: () => void) => void, page: string): Promise<Snippet> {
  // Below the checkout, where the SDK is found.
  const parent = resolve(import.meta.dirname, "../../out");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "snippet-"));
  finished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "consumer.mjs");
  writeFileSync(path, codeOf(page, "js"));
  return (await import(/* @vite-ignore */ path)) as Snippet;
}

class ValidationError extends Error {}

/** An error whose causes come to no end. */
function inRing(): Error {
  const error = new Error("down");
  error.cause = new Error("wrapped", { cause: error });
  return error;
}

/** What a message is called says how it ends. */
const ended: Ended = (body, attempt) => {
  const [kind = ""] = body.split(" ");
  if (kind === "permanent" || kind === "transient") return kind;
  if (kind === "once" && attempt === 1) return "transient";
  return "success";
};

interface Run {
  readonly body: string;
  readonly attempt: number;
  readonly beganAtMs: number;
}

/** Runs the snippet of the consumer `billing` until the test is over. */
async function runSnippet(
  finished: (end: () => void | Promise<void>) => void,
  system: DeployedSystem,
): Promise<{ readonly runs: readonly Run[]; readonly stop: () => Promise<void> }> {
  const { run, RetryAfter, HandBack } = await load(finished, renderContractPage(system.contract("billing")));
  const runs: Run[] = [];
  const aborting = new AbortController();
  const running = run(
    system.lab.emulator.connectionString,
    async (bytes, attempt) => {
      const body = bytes.toString();
      const isFirst = runs.every((each) => each.body !== body);
      runs.push({ body, attempt, beganAtMs: Date.now() });
      if (body.startsWith("back") && isFirst) throw new HandBack();
      if (body.startsWith("asked") && isFirst) throw new RetryAfter(600);
      const outcome = ended(body, attempt);
      if (outcome === "permanent") throw new Error("wrapped", { cause: new ValidationError("bad") });
      if (outcome === "transient") throw inRing();
    },
    aborting.signal,
  );
  const stop = async (): Promise<void> => {
    aborting.abort();
    await running;
  };
  finished(stop);
  return { runs, stop };
}

function listen(system: DeployedSystem): { readonly heard: Heard[]; readonly atMs: number[] } {
  const heard: Heard[] = [];
  const atMs: number[] = [];
  system.lab.emulator.watch({
    heard: (each) => {
      heard.push(each);
      atMs.push(Date.now());
    },
  });
  return { heard, atMs };
}

const errors = { permanent: ["ValidationError"] };
const messageOf = (body: string) => ({
  body: Buffer.from(body),
  messageId: body,
  subject: "order.placed",
  contentType: "text/plain",
  correlationId: "c-1",
  applicationProperties: { tenant: "a" },
});

describe.concurrent("the snippet for @azure/service-bus, as it stands on the page", patient, () => {
  for (const strategy of ["scheduled", "immediate"] as const) {
    test(`${strategy}: attempts, delays, dead letters, and on the wire what the contract says`, async ({
      expect,
      onTestFinished,
    }) => {
      const backoff = strategy === "immediate" ? { kind: "immediate" } : { kind: "steps", delays: ["300ms", "700ms"] };
      const retry = { attempts: 3, backoff };
      const system = await deploy(
        onTestFinished,
        { billing: { from: { orders: "all" }, retry, errors } },
        { strategy },
      );
      const { heard, atMs } = listen(system);
      await system.publish(...["success", "once", "transient", "permanent"].map(messageOf));
      const { runs, stop } = await runSnippet(onTestFinished, system);
      await waitUntil(async () => (await system.letters("billing")).length === 2);
      await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
      await stop();

      const runsOf = (body: string): readonly Run[] => runs.filter((each) => each.body === body);
      const attemptsOf = (body: string): readonly number[] => runsOf(body).map(({ attempt }) => attempt);
      expect(["success", "once", "transient", "permanent"].map(attemptsOf)).toEqual([[1], [1, 2], [1, 2, 3], [1]]);
      const times = runsOf("transient").map(({ beganAtMs }) => beganAtMs);
      const waits = strategy === "immediate" ? [0, 0] : [300, 700];
      for (const [index, waitMs] of waits.entries())
        expect((times[index + 1] ?? 0) - (times[index] ?? 0)).toBeGreaterThanOrEqual(waitMs);
      expect(breachesOf(system.contract("billing"), heard, atMs, ended)).toEqual([]);

      const letters = await system.letters("billing");
      const own = { subject: "order.placed", contentType: "text/plain", correlationId: "c-1" };
      const letterOf = (text: string) => letters.find(({ body }) => String(body) === text);
      expect(letterOf("permanent")).toMatchObject({
        ...own,
        messageId: "permanent",
        deadLetterReason: "PERMANENT_FAILURE",
        applicationProperties: { tenant: "a" },
      });
      expect(letterOf("transient")).toMatchObject({
        ...own,
        applicationProperties: { tenant: "a" },
      });
    });
  }

  test("a delay that the handler asks for, and a message that is handed back", async ({ expect, onTestFinished }) => {
    const retry = { attempts: 3, backoff: { kind: "constant", delay: "100ms" }, retryAfter: { max: "1s" } };
    const system = await deploy(onTestFinished, { billing: { from: { orders: "all" }, retry, errors } });
    await system.publish(messageOf("asked"), messageOf("back"));
    const { runs, stop } = await runSnippet(onTestFinished, system);
    await waitUntil(() => runs.length === 4);
    await waitUntil(async () => (await system.lab.peek("shop.billing")).length === 0);
    await stop();
    const runsOf = (body: string): readonly Run[] => runs.filter((each) => each.body === body);
    expect(runsOf("back").map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(runsOf("asked").map(({ attempt }) => attempt)).toEqual([1, 2]);
    const [first, second] = runsOf("asked");
    expect((second?.beganAtMs ?? 0) - (first?.beganAtMs ?? 0)).toBeGreaterThanOrEqual(600);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("sessions: messages of one come in order, a failure in its place", async ({ expect, onTestFinished }) => {
    const retry = { attempts: 3, backoff: { kind: "immediate" } };
    const billing = { from: { orders: "all" }, retry, errors, order: "per-key" };
    const system = await deploy(onTestFinished, { billing });
    const bodies = ["a", "b"].flatMap((session) =>
      ["success", "once", "permanent", "transient", "success again"].map((kind) => ({
        session,
        body: `${kind} ${session}`,
      })),
    );
    await system.publish(...bodies.map(({ session, body }) => ({ ...messageOf(body), sessionId: session })));
    const { runs, stop } = await runSnippet(onTestFinished, system);
    await waitUntil(() => runs.some(({ body }) => body === "success again a"));
    await waitUntil(() => runs.some(({ body }) => body === "success again b"));
    await waitUntil(async () => (await system.letters("billing")).length === 4);
    await stop();
    for (const session of ["a", "b"]) {
      const own = runs.filter(({ body }) => body.endsWith(` ${session}`));
      expect(own.map(({ body, attempt }) => `${body} ${attempt}`)).toEqual([
        `success ${session} 1`,
        ...[1, 2].map((attempt) => `once ${session} ${attempt}`),
        `permanent ${session} 1`,
        ...[1, 2, 3].map((attempt) => `transient ${session} ${attempt}`),
        `success again ${session} 1`,
      ]);
    }
  });
});
