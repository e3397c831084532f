import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type BodySchema, permanent, retryAfter } from "redeliver/consume";
import { z } from "zod";

import { operationsAfter } from "../../src/contract/interpret.ts";
import { askedDelay } from "../../src/contract/interpret.ts";
import { prepare } from "../../src/consume/consume.ts";
import { classify } from "../../src/consume/failure.ts";
import { afterMs } from "../../src/consume/port/long-timer.ts";
import { readBody, UnreadableError } from "../../src/consume/read-body.ts";
import { readDelivery } from "../../src/brokers/rabbitmq/run/amqp-0-9-1/read-delivery.ts";
import { compile } from "../../src/index.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

class ValidationError extends Error {}

describe("the class of an error", () => {
  const transient = { kind: "transient", askedMs: null };
  const names = ["ValidationError", "NotFound"];

  test("is transient by default", () => {
    for (const thrown of [new Error("x"), "text", null, undefined, 7, {}, Object.create(null)])
      expect(classify(thrown, names)).toEqual(transient);
  });

  test("is permanent by its name, by its class's name, or by those of a cause", () => {
    const named = Object.assign(new Error("x"), { name: "NotFound" });
    const byName = { kind: "permanent", reason: null };
    expect(classify(named, names)).toEqual(byName);
    expect(classify(new ValidationError("x"), names)).toEqual(byName);
    expect(classify(new Error("x", { cause: new Error("y", { cause: named }) }), names)).toEqual(byName);
    expect(classify({ name: "NotFound" }, names)).toEqual(byName);
  });

  test("comes from the outermost error with a known class", () => {
    expect(classify(retryAfter("90s", permanent("GONE")), names)).toEqual({ kind: "transient", askedMs: 90_000 });
    expect(classify(new Error("x", { cause: permanent("GONE") }), names)).toEqual({
      kind: "permanent",
      reason: "GONE",
    });
  });

  test("ignores circular causes, and properties that throw", () => {
    const loop = new Error("x");
    loop.cause = loop;
    expect(classify(loop, names)).toEqual(transient);
    const trap = {
      get name(): string {
        throw new Error("no");
      },
    };
    expect(classify(trap, names)).toEqual(transient);
  });

  test("an invalid delay is the handler's error", () => {
    expect(() => retryAfter("soon" as "1s")).toThrow(TypeError);
  });
});

describe("reading a body", () => {
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const schemaOf = (validate: (value: unknown) => unknown): BodySchema =>
    ({ "~standard": { version: 1, vendor: "test", validate } }) as unknown as BodySchema;

  test("as JSON, text or bytes", () => {
    expect(readBody(text('{"a":1}'), "json", null)).toEqual({ a: 1 });
    expect(readBody('{"a":1}', "json", null)).toEqual({ a: 1 });
    expect(readBody(text("{"), "text", null)).toBe("{");
    expect(readBody(text("{"), "bytes", null)).toEqual(text("{"));
  });

  test("an unreadable body gives a message that does not quote it", () => {
    for (const [body, format] of [
      [text("secret"), "json"],
      [text(""), "json"],
      [new Uint8Array([0xff, 0xfe]), "text"],
    ] as const) {
      expect(() => readBody(body, format, null)).toThrow(UnreadableError);
      expect(() => readBody(body, format, null)).not.toThrow("secret");
    }
  });

  test("a schema can change it, refuse it, or throw", async () => {
    const read = (schema: BodySchema, body = "1"): unknown => readBody(body, "json", schema);
    const broken = new Error("broken");
    const throwing = schemaOf(() => {
      throw broken;
    });
    expect(read(z.number().transform((number) => number + 1))).toBe(2);
    expect(() => read(z.number(), '"a"')).toThrow(UnreadableError);
    expect(() => read(throwing)).toThrow(UnreadableError);
    await expect(read(schemaOf(async () => ({ value: 3 })))).resolves.toBe(3);
    await expect(read(schemaOf(() => Promise.reject(broken)))).rejects.toThrow(UnreadableError);
  });
});

describe("a timer", () => {
  test.each([1, 2 ** 31 - 1, 2 ** 31, 5 * 2 ** 31])("of %d ms ends after that time, and not before", (delayMs) => {
    vi.useFakeTimers();
    try {
      const ended = vi.fn();
      afterMs(delayMs, ended);
      vi.advanceTimersByTime(delayMs - 1);
      expect(ended).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(ended).toHaveBeenCalledTimes(1);
      const taken = vi.fn();
      const cancel = afterMs(delayMs, taken);
      vi.advanceTimersByTime(delayMs - 1);
      cancel();
      vi.advanceTimersByTime(10 * 2 ** 31);
      expect(taken).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a contract", () => {
  const backoff = { kind: "constant", delay: "1s", jitter: "10%" };
  const system = checked(oneConsumer({ retry: { attempts: 3, backoff, retryAfter: { max: "10s" } } }));
  const [contract] = accepted(compile(system, { broker: "rabbitmq", version: "4.3", strategy: "waits" })).contracts;
  if (contract === undefined) throw new Error("no contract");

  test("has operations for every attempt number, also beyond the last", () => {
    const { transient } = contract.outcomes;
    expect(operationsAfter(transient, 3)).toEqual([{ operation: "basic.nack", requeue: false }]);
    expect(operationsAfter(transient, 99)).toEqual(operationsAfter(transient, 3));
  });

  test("answers a requested delay with the first step that is long enough", () => {
    forAll(100, [fc.integer({ min: 0, max: 10_000 })], (delayMs) => {
      const asked = askedDelay(contract, 1, delayMs);
      expect(asked?.delayMs).toBe(delayMs);
      const step = contract.retryAfter?.find((each) => each.byAttempt[0] === asked?.operations);
      expect(step?.upToMs).toBeGreaterThanOrEqual(delayMs);
    });
    expect(askedDelay(contract, 1, 60_000)?.delayMs).toBe(10_000);
  });

  test("gives an attempt of 1 or more, for any headers", () => {
    const native = compile(
      checked(oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } } })),
      { broker: "rabbitmq", version: "4.3", strategy: "native" },
    );
    if (!native.ok) throw new Error("refused");
    const contracts = [contract, ...native.value.contracts];
    const attemptOf = (by: typeof contract, own: object, headers: object): number => {
      const fields = { ...own, deliveryTag: 1, exchange: "", consumerTag: "" };
      const message = { content: Buffer.alloc(0), fields, properties: { headers } };
      return readDelivery(by, message as unknown as Parameters<typeof readDelivery>[1]).attempt;
    };
    const prefix = "redeliver:shop.billing:attempt:";
    forAll(
      100,
      [
        fc.dictionary(fc.constantFrom("x-delivery-count", "x-death", "redeliver-original-routing-key"), fc.anything()),
        fc.oneof(
          fc.string(),
          fc.string().map((rest) => `${prefix}${rest}`),
          fc.nat().map((number) => `${prefix}${number}`),
        ),
        fc.boolean(),
      ],
      (headers, routingKey, redelivered) => {
        for (const each of contracts) {
          const attempt = attemptOf(each, { routingKey, redelivered }, headers);
          expect(Number.isSafeInteger(attempt) && attempt >= 1).toBe(true);
        }
      },
    );
    const [, counting = contract] = contracts;
    const counted = [false, true].map((redelivered) =>
      attemptOf(counting, { routingKey: "a", redelivered }, { "x-delivery-count": 2 }),
    );
    // A dead letter that an operator sends again carries its old count. On its first delivery this queue has not
    // counted it.
    expect(counted).toEqual([1, 3]);
  });
});

test.each([
  { target: { broker: "rabbitmq", version: "4.3" }, connection: { url: "amqp://localhost" } },
  { target: { broker: "sqs", region: "eu-west-1" }, connection: {} },
  { target: { broker: "servicebus", sku: "standard" }, connection: { connectionString: "Endpoint=sb://localhost" } },
] as const)("an undeclared consumer is refused before any connection: $target.broker", (options) => {
  const result = prepare(checked(oneConsumer()), "biling", options);
  expect(result.ok || result.diagnostics).toMatchObject([
    { code: "RD801", message: 'shop declares no consumer "biling"', notes: ["it declares billing"] },
  ]);
});

describe("options", () => {
  const shop = checked(oneConsumer());
  const options = {
    target: { broker: "rabbitmq", version: "4.3" },
    connection: { url: "amqp://user:secret@localhost" },
  };
  const refusedWith = (more: object): readonly string[] => {
    const result = prepare(shop, "billing", { ...options, ...more });
    return result.ok ? [] : result.diagnostics.flatMap(({ code, notes }) => [code, ...notes]);
  };

  /** One refusal that says all of this, and shows no secret. */
  const expectRefused = (more: object, ...said: readonly string[]): void => {
    const problems = refusedWith(more);
    expect(problems.filter((each) => each === "RD802")).toHaveLength(1);
    expect(problems[0]).toBe("RD802");
    for (const each of said) expect(problems.join("\n")).toContain(each);
    expect(problems.join("\n")).not.toContain("secret");
  };

  test("get their defaults, also for undefined", () => {
    const result = prepare(shop, "billing", { ...options, concurrency: undefined, schema: undefined, log: undefined });
    expect(result.ok && result.value.settings).toMatchObject({
      concurrency: 10,
      format: "json",
      stopWithinMs: 30_000,
      breaker: { failures: 10, firstPauseMs: 1_000, longestPauseMs: 60_000 },
    });
    expect(refusedWith({ schema: z.object({}), breaker: false })).toEqual([]);
  });

  test("with mistakes give one diagnostic that names all", () => {
    const mistakes = { concurency: 3, concurrency: 0, stopWithin: "soon", schema: {}, log: true };
    expectRefused(mistakes, ...Object.keys(mistakes));
  });

  test("a breaker's shortest pause may not exceed its longest", () => {
    expect(refusedWith({ breaker: { failures: 3, firstPause: "2m", longestPause: "1m" } })).toContain("RD802");
  });

  test("of a connection are checked too, and no value of them is shown", () => {
    const connection = { url: "http://user:secret@localhost", managmentUrl: "x" };
    expectRefused({ connection }, "managmentUrl", "amqp://user:password@host:5672/vhost");
    const refused = prepare(shop, "billing", { ...options, connection: { uri: "amqp://localhost" } } as never);
    expect(refused.ok || refused.diagnostics[0]?.help).toContain("url, credentials, managementUrl, tls");
  });

  test("a token is not a function, and the virtual host needs a readable name", () => {
    const connection = { url: "amqp://localhost/%zz", credentials: "secret" };
    expectRefused({ connection }, "credentials is no function", "url has a % in its path that begins no character");
  });

  test.each([
    { url: [], said: "url is an empty list" },
    { url: ["amqp://localhost", "http://user:secret@localhost"], said: "url[1] is no URL such as" },
    { url: ["amqp://one/shop", "amqp://two/billing"], said: "url names more than one virtual host" },
    { url: ["amqp://one/%zz", "amqp://two"], said: "url[0] has a % in its path that begins no character" },
  ])("the nodes of a cluster need a URL each, and one virtual host: $said", ({ url, said }) => {
    expectRefused({ connection: { url } }, said);
  });

  test.each([
    { url: "amqp://user:secret@localhost?heartbeat=20", strategy: "staged", isTaken: true },
    {
      url: "amqp://localhost/shop?heartbeat=0&channelMax=8&frameMax=8192&locale=en_US",
      strategy: "staged",
      isTaken: true,
    },
    { url: "amqp://user:secret@localhost?hearbeat=20", strategy: "staged", isTaken: false },
    { url: "amqp://user:secret@localhost?heartbeat=soon", strategy: "staged", isTaken: false },
    { url: "amqp://user:secret@localhost?heartbeat=20&heartbeat=30", strategy: "staged", isTaken: false },
    { url: "amqp://user:secret@localhost?heartbeat=20", strategy: "deferred", isTaken: true },
    { url: "amqp://user:secret@localhost?channelMax=8", strategy: "deferred", isTaken: false },
    { url: ["amqp://one", "amqp://user:secret@two?verify=none"], strategy: "deferred", isTaken: false },
  ] as const)("parameters of a URL that the client does not know are refused: $url, $strategy", (given) => {
    const { url, strategy, isTaken } = given;
    const target = { broker: "rabbitmq", version: "4.3", strategy } as const;
    const result = prepare(checked(billingUnder(strategy)), "billing", { target, connection: { url } });
    const problems = result.ok ? [] : result.diagnostics.flatMap(({ code, notes }) => [code, ...notes]);
    expect(problems).toEqual(
      isTaken
        ? []
        : ["RD802", expect.stringContaining("has a parameter that the client of this strategy does not accept")],
    );
  });
});
