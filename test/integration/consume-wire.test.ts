import type { Options } from "amqplib";
import { describe, expect, test } from "vitest";

import type { Contract } from "../../src/index.ts";
import type { WireFrame } from "../support/consume/amqp-proxy.ts";
import { asSeen } from "../support/consume/as-seen.ts";
import { everyWay } from "../support/consume/every-way.ts";
import { askingDeclared, everyEndingDeclared } from "../support/consume/every-ending.ts";
import { firstOfEach, type Handled } from "../support/consume/handled.ts";
import { breachesOf091, nameOf } from "../support/consume/judge-wire-0-9-1.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { recordEndings } from "../support/consume/record-endings.ts";
import { onePlaceChangesOf } from "../support/consume/one-place-changes.ts";
import { oneByOne, wireChangesOf, withOlderOnes } from "../support/consume/wire-changes-0-9-1.ts";
import { endingOf } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { speaksAmqp091, strategiesOn } from "../support/strategies.ts";

const attempts = 3;
const delays = {
  native: { retry: { attempts, backoff: { kind: "constant", delay: "100ms" } } },
  staged: { retry: { attempts, backoff: { kind: "exponential", first: "50ms", factor: 2, max: "1s" } } },
  waits: {
    retry: {
      attempts,
      backoff: { kind: "exponential", first: "50ms", factor: 2, max: "1s", jitter: "20%" },
      ...askingDeclared,
    },
  },
} as const;

/** A copy carries all properties and headers of its message. */
const carried: readonly Options.Publish[] = [
  {
    contentType: "application/json",
    contentEncoding: "identity",
    correlationId: "order-4711",
    replyTo: "answers",
    timestamp: 1_700_000_000,
    type: "order.placed",
    appId: "till",
    priority: 3,
    headers: { tenant: "a", nested: { list: [1, "two", true, null] } },
  },
  // An expiration on the message would delete its copy in the dead queue, or start its next attempt early.
  {
    expiration: "600000",
    userId: "guest",
    headers: { CC: ["order.copied"], "x-own": 1.5, "x-delivery-count": 7, "x-acquired-count": 7 },
  },
  { messageId: undefined as never, deliveryMode: 1, persistent: undefined as never },
  {},
];

interface Recording {
  readonly strategy: string;
  readonly contract: Contract;
  readonly frames: readonly WireFrame[];
  readonly handled: readonly Handled[];
}

for (const broker of brokers()) {
  const recordings: Recording[] = [];
  const strategies = strategiesOn(broker.version).filter(speaksAmqp091);
  describe.concurrent(`the wire between consumer and broker: ${broker.version}`, () => {
    const stage = liveStage(broker);

    test.for(strategies)("%s: matches the contract exactly, for each outcome after each attempt", async (strategy) => {
      const declared = { ...delays[strategy], ...everyEndingDeclared };
      const options = (number: number): Options.Publish => carried[number % carried.length] ?? {};
      const recorded = await recordEndings({ stage, strategy, declared, attempts, options });
      const { frames, handled } = recorded;
      const contract = asSeen(recorded.system.contract("billing"), frames, handled);
      recordings.push({ strategy, contract, frames, handled });
      expect(breachesOf091(contract, frames, handled)).toEqual([]);
      const ended = new Set(handled.map(({ decision, attempt }) => `${endingOf(decision)} ${attempt}`));
      expect(ended.size, "success, transient, permanent and return").toBe(4 * attempts);
    });
  });
  // Runs last, because the comparisons use all of the processor.
  describe(`a single deviation on the wire: ${broker.version}`, () => {
    test("is reported, even if the contract has the same deviation", () => {
      expect(recordings.map(({ strategy }) => strategy).toSorted()).toEqual(strategies.toSorted());
      const untold = recordings.flatMap(({ strategy, contract, frames, handled }) => {
        const ways = everyWay(contract, frames, handled);
        expect(ways.flatMap((each) => breachesOf091(contract, each, handled))).toEqual([]);
        const { outcomes, retryAfter, attemptNumber } = contract;
        const skip = ["from", "originalRoutingKey"];
        return onePlaceChangesOf({ outcomes, retryAfter, attemptNumber }, { skip })
          .filter(({ value }) => {
            const changed = { ...contract, ...value } as Contract;
            return ways.every((each) => breachesOf091(changed, each, handled).length === 0);
          })
          .map(({ what }) => `${strategy}${what}`);
      });
      expect(untold).toEqual([]);
    });

    test("is reported in the operations, too", () => {
      let withOlder = false;
      const untold = recordings.flatMap(({ strategy, contract, frames, handled }) => {
        const single = oneByOne(frames);
        expect(breachesOf091(contract, single, handled)).toEqual([]);
        const isFirst = firstOfEach(handled);
        const changes = wireChangesOf(single, (delivery) => isFirst(nameOf(delivery)));
        withOlder ||= changes.some(({ what }) => what.startsWith(withOlderOnes));
        const untoldChanges = changes.filter(({ value }) => breachesOf091(contract, value, handled).length === 0);
        const isFirstRun = firstOfEach(handled);
        const tooLate = handled.filter((run, index) => {
          const ended = handled.with(index, { ...run, framesBefore: single.length });
          return isFirstRun(run.message) && breachesOf091(contract, single, ended).length === 0;
        });
        return [
          ...untoldChanges.map(({ what }) => `${strategy}: ${what}`),
          ...tooLate.map(
            ({ message, attempt }) => `${strategy}: ${message} ${attempt} settled before its handler ended`,
          ),
        ];
      });
      expect(untold).toEqual([]);
      expect(withOlder, "one acknowledged while older ones were not settled").toBe(true);
    });
  });
}
