import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { retryAfter } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";

import type { Contract } from "../../src/index.ts";
import { firstOfEach, type Handled } from "../support/consume/handled.ts";
import { breachesOf10 } from "../support/consume/judge-wire-1-0.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type Record10, wireChangesOf10 } from "../support/consume/wire-changes-1-0.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { type Decision, endingOf } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { registerGlobals, startMonitoring } from "../support/telemetry.ts";
import { oneConsumer } from "../support/examples.ts";

/** Every attempt has its own delay, so that the test can tell the outcomes of attempts apart. */
const declaration = (first: string): unknown =>
  oneConsumer({
    from: { orders: "all" },
    protocol: "amqp-1.0",
    retry: {
      attempts: 4,
      backoff: { kind: "exponential", first, factor: 2, max: "1h", jitter: "20%" },
      retryAfter: { max: "1h" },
    },
    errors: { permanent: ["RangeError"] },
  });
const strategy = "deferred";
const attempts = [1, 2, 3, 4] as const;

beforeAll(registerGlobals);

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(
    `the wire between consumer and broker by AMQP 1.0: ${broker.version}`,
    () => {
      const { proxied, consumed } = liveStage(broker);
      const recordings: (Record10 & { readonly contract: Contract })[] = [];

      test.for([
        { name: "nobody watches", watched: [], behindMs: 0 },
        { name: "it is watched", watched: ["x-opt-redeliver-attempt-traceparent"], behindMs: 0 },
        { name: "the consumer's clock is behind", watched: [], behindMs: 20 },
      ])("matches the contract exactly, for each outcome after each attempt, where $name", async (stated) => {
        const { watched, behindMs } = stated;
        const rightNow = Date.now;
        const clock = vi.spyOn(Date, "now").mockImplementation(() => rightNow() - behindMs);
        onTestFinished(() => clock.mockRestore());
        const { system, proxy } = await proxied(declaration("50ms"), strategy);
        const handled: Handled[] = [];
        const decisionOf = (id: string, attempt: number): Decision => {
          const [kind, last] = id.split(" ");
          if (kind === "asks") return { askMs: 70 + attempt };
          return attempt < Number(last) ? "transient" : (kind as Decision);
        };
        const monitoring = startMonitoring();
        const telemetry = watched.length === 0 ? undefined : openTelemetry(monitoring.options);
        const options = { breaker: false, concurrency: 5, telemetry } as const;
        const billing = await consumed({ ...system, url: proxy.url, options }, async ({ id, attempt }) => {
          await sleep(5);
          const decision = decisionOf(id, attempt);
          const framesBefore = proxy.frames.length;
          handled.push({ message: id, attempt, decision, endedAtMs: Date.now(), framesBefore });
          if (typeof decision === "object" && "askMs" in decision) throw retryAfter(`${BigInt(decision.askMs)}ms`);
          if (decision === "transient") throw new Error("again");
          if (decision === "permanent") throw new RangeError("it is wrong");
        });
        const kinds = ["success", "permanent", "transient"].flatMap((kind) =>
          attempts.map((last) => `${kind} ${last}`),
        );
        for (const messageId of [...kinds, "asks"])
          system.channel.publish("shop.orders", "order.placed", Buffer.from("1"), {
            messageId,
            persistent: true,
            headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
          });
        await system.channel.waitForConfirms();
        // Messages that end with a failure use all attempts. The others come as often as their kind says.
        const expected = 2 * (1 + 2 + 3 + 4) + 4 * 4 + 4;
        await until(60_000, () => handled.length >= expected);
        await billing.running.stop();
        await monitoring.shutdown();
        expect(handled).toHaveLength(expected);
        expect(new Set(handled.map(({ decision, attempt }) => `${endingOf(decision)} ${attempt}`)).size).toBe(3 * 4);
        const contract = system.contract("billing");
        expect(breachesOf10(contract, proxy.frames, handled, watched)).toEqual([]);
        // The first retries of a consumer that is behind come too early, and go back.
        if (behindMs > 0)
          expect(proxy.frames.filter(({ kind }) => kind === "transfer").length).toBeGreaterThan(expected);
        else if (watched.length === 0) recordings.push({ contract, frames: proxy.frames, handled });
        expect(await system.drain("shop.billing")).toEqual([]);
      });

      test("matches it for messages whose handlers have not begun, or not ended, when the consumer stops", async () => {
        const { system, proxy } = await proxied(declaration("10m"), strategy);
        const billing = await consumed({ ...system, url: proxy.url, options: { concurrency: 3 } }, () => sleep(60_000));
        await system.publish(["a", "b", "c"]);
        await until(20_000, () => billing.runs.length === 3);
        const framesBefore = proxy.frames.length;
        const endedAtMs = Date.now();
        await billing.running.stop("50ms");
        const handled = billing.runs.map(({ id, attempt }): Handled => ({
          message: id,
          attempt,
          decision: "return",
          endedAtMs,
          framesBefore,
        }));
        const contract = system.contract("billing");
        expect(breachesOf10(contract, proxy.frames, handled)).toEqual([]);
        recordings.push({ contract, frames: proxy.frames, handled });
        expect((await system.drain("shop.billing")).map(({ properties }) => properties.messageId)).toEqual([
          "a",
          "b",
          "c",
        ]);
      });

      // Runs last, because it needs the recordings.
      test("reports each single deviation in what the consumer sent", () => {
        expect(recordings).toHaveLength(2);
        const untold = recordings.flatMap(({ contract, frames, handled }) => {
          const isFirst = firstOfEach(handled);
          return handled
            .filter(({ message }) => isFirst(message))
            .flatMap((run) => wireChangesOf10(frames, handled, run))
            .filter(({ value }) => breachesOf10(contract, value.frames, value.handled).length === 0)
            .map(({ what }) => what);
        });
        expect(untold).toEqual([]);
      });
    },
  );
