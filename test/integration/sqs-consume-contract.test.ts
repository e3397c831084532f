import type { MessageAttributeValue } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";

import {
  attemptsInAll,
  endsOf,
  everyEnding,
  everyEndingDeclared,
  everyReturn,
  fateOf,
  meet,
  unreadable,
} from "../support/consume/every-ending.ts";
import { onePlaceChangesOf } from "../support/consume/one-place-changes.ts";
import { until } from "../support/deployed-system.ts";
import { callChangesOf } from "../support/sqs/call-changes.ts";
import { consuming } from "../support/sqs/consuming.ts";
import { attributes, deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import type { SqsContract } from "../support/sqs/drive.ts";
import { breachesOf, type Ended } from "../support/sqs/keeps-contract.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { type Call, type RecordingProxy, startRecordingProxy } from "../support/sqs/recording-proxy.ts";

const attempts = 3;
const from = { orders: "all" };
/** Even on a busy machine the consumer settles a message long before its visibility timeout ends. */
const constant = { attempts, backoff: { kind: "constant", delay: "4s" } };
/** Every attempt has its own range of delays, so that the test can tell the outcomes of attempts apart. */
const growing = {
  attempts,
  backoff: { kind: "exponential", first: "1s", factor: 3, jitter: "100%" },
  retryAfter: { max: "5s" },
};
const strategies = {
  redrive: { from, ...everyEndingDeclared, retry: constant, handlerTimeout: "4s" },
  "redrive on FIFO": { from, ...everyEndingDeclared, retry: constant, handlerTimeout: "4s", order: "per-key" },
  visibility: { from, ...everyEndingDeclared, retry: growing, handlerTimeout: "4s" },
} as const;

/** A stop takes a while, and no handler may be late in it. Under `redrive` every attempt takes the whole timeout. */
const longTimeouts = { redrive: "5s", visibility: "20s" } as const;

/** A copy carries all attributes of its message. */
const carried: Record<string, MessageAttributeValue> = {
  ...attributes({ "routing-key": "order.placed", tenant: "a" }),
  count: { DataType: "Number", StringValue: "1.50" },
  blob: { DataType: "Binary", BinaryValue: Buffer.from([0, 255, 7]) },
};

/** Ids have no spaces. */
const keyOf = (name: string): string => name.replaceAll(" ", "-");

/** The calls on the wire, and the function that compares them with a contract. */
interface Recorded {
  readonly contract: SqsContract;
  readonly calls: readonly Call[];
  readonly judge: (contract: SqsContract, calls: readonly Call[]) => readonly string[];
}

interface Spied {
  readonly system: DeployedSystem;
  readonly proxy: RecordingProxy;
}

/** Keyed by the emulator and the strategy. */
const recordedOn = new Map<string, Map<string, Recorded>>();

for (const emulator of sqsEmulators()) {
  const recorded = new Map<string, Recorded>();
  recordedOn.set(emulator.name, recorded);
  describe.concurrent(`the contract on the wire of ${emulator.name} ${emulator.version}`, () => {
    const within = async <Result>(declared: object, run: (spied: Spied) => Promise<Result>): Promise<Result> => {
      await using system = await deploy(emulator, { billing: declared });
      await using proxy = await startRecordingProxy(emulator.endpoint);
      return await run({ system, proxy });
    };
    const send = async ({ lab, work }: DeployedSystem, names: readonly string[]): Promise<void> => {
      const queue = work("billing");
      await Promise.all(
        names.map(async (name) =>
          lab.send(queue, name === unreadable.name ? unreadable.body : JSON.stringify(name), {
            MessageAttributes: carried,
            ...(queue.name.endsWith(".fifo")
              ? { MessageGroupId: keyOf(name), MessageDeduplicationId: keyOf(name) }
              : {}),
          }),
        ),
      );
    };
    test.for(Object.entries(strategies))(
      "%s: consume does exactly its operations after each attempt, with their values",
      async ([strategy, declared]) =>
        within(declared, async ({ system, proxy }) => {
          const contract = system.contract("billing");
          const hasDelays = contract.retryAfter !== undefined;
          const names = everyEnding(attempts);
          await send(system, [...names, unreadable.name]);
          const endedAt = new Map<string, number>();
          const consumer = await consuming(
            system,
            "billing",
            ({ body }, { number, signal }) =>
              meet(fateOf(body, number, hasDelays), signal, () =>
                endedAt.set(`${JSON.stringify(body)} ${number}`, performance.now()),
              ),
            { endpoint: proxy.endpoint, body: "json", breaker: false, concurrency: names.length + 1 },
          );
          const isOver = (name: string): boolean => consumer.attemptsOf(name).length >= attemptsInAll([name], attempts);
          await until(180_000, () => names.every(isOver) && consumer.health().handling === 0);
          await consumer.stop();
          const ended: Ended = (body, attempt) => endsOf(body, attempt, hasDelays);
          const judge = (of: SqsContract, calls: readonly Call[]): readonly string[] =>
            breachesOf(of, calls, ended, (body, attempt) => endedAt.get(`${body} ${attempt}`) ?? null);
          recorded.set(strategy, { contract, calls: proxy.calls, judge });
          expect(judge(contract, proxy.calls)).toEqual([]);
        }),
    );

    test.for(
      (["redrive", "visibility"] as const).flatMap((strategy) =>
        everyReturn(attempts).map(
          (name) => [strategy, name, { ...strategies[strategy], handlerTimeout: longTimeouts[strategy] }] as const,
        ),
      ),
    )("%s: and when the consumer stops in an attempt: %s", async ([strategy, name, declared]) =>
      within(declared, async ({ system, proxy }) => {
        await send(system, [name]);
        const consumer = await consuming(
          system,
          "billing",
          ({ body }, { number, signal }) => meet(fateOf(body, number, false), signal, () => undefined),
          // With one handler no receive runs when the consumer stops. On a slow machine it would bring the message again.
          { endpoint: proxy.endpoint, body: "json", concurrency: 1 },
        );
        await until(120_000, () => `return ${consumer.runs.length}` === name);
        const stoppedAtMs = performance.now();
        await consumer.stop("0ms");
        const contract = system.contract("billing");
        const ended: Ended = (body, attempt) => endsOf(body, attempt, false);
        const judge = (of: SqsContract, calls: readonly Call[]): readonly string[] =>
          breachesOf(of, calls, ended, (_, attempt) => (`return ${attempt}` === name ? stoppedAtMs : null));
        expect(judge(contract, proxy.calls)).toEqual([]);
        expect(consumer.events.filter(({ kind }) => kind === "returned")).toHaveLength(1);
        recorded.set(`${strategy}, stopped in ${name}`, { contract, calls: proxy.calls, judge });
      }),
    );
  });
}

for (const [name, recorded] of recordedOn) {
  // Runs last, because the comparisons use all of the processor.
  describe(`a single deviation on the wire of ${name}`, () => {
    test.for(Object.keys(strategies))("%s: is reported", (strategy) => {
      const { contract, calls, judge } = recorded.get(strategy) as Recorded;
      const { outcomes, retryAfter } = contract;
      const contracts = onePlaceChangesOf({ outcomes, retryAfter }, { skip: ["return"] });
      const untold = contracts.filter(
        ({ value }) => judge({ ...contract, ...value } as SqsContract, calls).length === 0,
      );
      expect(untold.map(({ what }) => what)).toEqual([]);
      const seen = new Set<string>();
      const isFirst = ({ operation, input }: Call): boolean => {
        const alike = [operation, Object.keys(input), input["VisibilityTimeout"]].join();
        const isNew = !seen.has(alike);
        seen.add(alike);
        return isNew;
      };
      const changed = callChangesOf(calls, isFirst);
      expect(changed.filter(({ value }) => judge(contract, value).length === 0).map(({ what }) => what)).toEqual([]);
    });

    test("is reported when the consumer stops, too", () => {
      const stopped = [...recorded].filter(([name]) => name.includes("stopped"));
      expect(stopped).toHaveLength(2 * attempts);
      const untold = stopped.flatMap(([name, { contract, calls, judge }]) => {
        const contracts = onePlaceChangesOf(contract.outcomes.return).filter(
          ({ value }) => judge({ ...contract, outcomes: { ...contract.outcomes, return: value } }, calls).length === 0,
        );
        const changed = callChangesOf(calls, ({ input }) => input["VisibilityTimeout"] === 0);
        const untoldCalls = changed.filter(({ value }) => judge(contract, value).length === 0);
        return [...contracts, ...untoldCalls].map(({ what }) => `${name}: ${what}`);
      });
      expect(untold).toEqual([]);
    });
  });
}
