import { describe, expect, test } from "vitest";

import { writeYaml } from "../../src/adopt/write-yaml.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import {
  type Parts,
  binding,
  deadTo,
  exchange,
  exported,
  queue,
  vhosts,
  waiting,
} from "../support/known-topologies.ts";
import { adopting, adoptText, factsOf } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };

/** The only consumer of a topology, and all of the adoption. */
function inferred(parts: Parts) {
  const adopted = adoptText(exported(parts));
  const [[name, consumer] = ["", {}]] = Object.entries(adopted.draft.system.consumers);
  expect(Object.keys(adopted.draft.system.consumers)).toEqual([name]);
  return { ...adopted, name, consumer, facts: factsOf(adopted) };
}

/** The same with the texts of all comments. */
const inferredWith = (parts: Parts) => {
  const { draft, ...rest } = inferred(parts);
  return { ...rest, comments: draft.comments.map(({ text }) => text) };
};

describe("the crashes of a consumer", () => {
  test.for([
    ["nothing counts", { "x-delivery-limit": -1 }, { deliveries: 21 }, true],
    ["the broker's default counts", {}, { deliveries: 21 }, false],
    ["a limit above the most counts", { "x-delivery-limit": 5_000 }, { deliveries: 1_000 }, false],
  ] as const)("that %s", ([, given, crash, isGuess]) => {
    const { consumer, facts } = inferred({ queues: [queue("work", { ...quorum, ...given })] });
    expect(consumer).toMatchObject({ crash });
    expect(facts.some((each) => each.startsWith("work: nothing counts its crashes today"))).toBe(isGuess);
  });

  test("that a policy lets go on: the compiled one outranks it", () => {
    const unlimited = { vhost: "/", name: "limit", pattern: "^work$", "apply-to": "queues", priority: 0 };
    const { facts } = inferred({
      queues: [queue("work", quorum)],
      policies: [{ ...unlimited, definition: { "delivery-limit": -1 } }],
    });
    expect(facts).toContainEqual(expect.stringMatching(/^work: nothing counts .* by a policy that outranks its own$/));
  });
});

describe("a consumer timeout", () => {
  const timed = (timeoutMs: number): Parts => ({
    queues: [queue("work", { ...quorum, "x-consumer-timeout": timeoutMs })],
  });
  test.for([
    [300_000, "5m"],
    [7_200_000, "2h"],
  ] as const)("of %d ms is the queue's own, and promises no handler more time", ([timeoutMs, consumerTimeout]) => {
    const { consumer } = inferred(timed(timeoutMs));
    expect(consumer).toMatchObject({ queueArguments: { consumerTimeout } });
    expect(consumer).not.toHaveProperty("handlerTimeout");
  });
  test("stays where a limit on the length has to go", () => {
    const limited = { "x-max-length": 500, "x-overflow": "reject-publish", "x-consumer-timeout": 600_000 };
    const back = waiting(30_000, "", "work");
    const { consumer, facts } = inferred({
      queues: [queue("work", { ...quorum, ...limited, ...deadTo("work.wait") }), queue("work.wait", back)],
    });
    expect(consumer).toMatchObject({ queueArguments: { consumerTimeout: "10m" } });
    expect(facts.filter((each) => /^work: (max-length|consumer-timeout) is/.test(each))).toEqual([
      expect.stringMatching(/^work: max-length is 500:/),
    ]);
  });
  test("is a fact where the version has none", () => {
    const { draft, unsaid } = adoptText(exported(timed(300_000)).replace("4.3.6", "3.10.8"), "rabbitmq@3.10");
    expect(draft.system.consumers["work"]).not.toHaveProperty("queueArguments");
    expect(unsaid).toContainEqual(
      expect.objectContaining({ fact: expect.stringMatching(/^consumer-timeout is 300000:/) as unknown }),
    );
  });
});

test("waiting queues with a number behind their word are no consumers, although producers may use their exchange", () => {
  const names = ["orders.retry1", "orders.retry2"];
  const { name, consumer } = inferred({
    exchanges: [exchange("retries", "direct")],
    queues: [
      queue("orders", { ...quorum, ...deadTo("orders.dlq") }),
      queue("orders.dlq", quorum),
      ...names.map((each, index) => queue(each, { ...quorum, ...waiting(10_000 * (index + 1), "", "orders") })),
    ],
    bindings: names.map((each) => binding("retries", each, each)),
  });
  expect(name).toBe("orders");
  expect(consumer).toMatchObject({ retry: { attempts: 3, backoff: { delays: ["10s", "20s"] } } });
});

test("messages that a producer delays with Symfony are no retries", () => {
  const delay = (name: string, delayMs: number): object => queue(name, waiting(delayMs, "messages", "high"));
  const { consumer, facts } = inferred({
    exchanges: [exchange("messages", "direct")],
    queues: [
      queue("messages"),
      delay("delay_messages_high_60000_delay", 60_000),
      delay("delay_messages_high_1000_retry", 1_000),
    ],
    bindings: [binding("messages", "messages", "high")],
  });
  expect(consumer).toMatchObject({ retry: { attempts: 2, backoff: { delay: "1s" } } });
  expect(facts).toContainEqual(
    expect.stringMatching(/^messages: by its names Symfony uses it: .*by default 3 retries/),
  );
});

test("waiting queues that a header of the consumer chooses are one attempt each", () => {
  const tiers = [5_000, 30_000, 300_000];
  const chosen = (count: number, to: string): object => ({
    ...binding("retry", to),
    arguments: { "x-match": "all", "x-retries": count },
  });
  const { consumer, facts } = inferred({
    exchanges: [exchange("in", "topic"), exchange("retry", "headers"), exchange("requeue", "topic")],
    queues: [
      queue("work", { "x-dead-letter-exchange": "retry" }),
      ...tiers.map((ms) => queue(`wait.${ms}`, { "x-message-ttl": ms, "x-dead-letter-exchange": "requeue" })),
      queue("work.failed"),
    ],
    bindings: [
      binding("in", "work", "ev.#"),
      binding("requeue", "work", "ev.#"),
      ...tiers.map((ms, index) => chosen(index, `wait.${ms}`)),
      chosen(tiers.length, "work.failed"),
    ],
  });
  expect(consumer).toMatchObject({ retry: { attempts: 4, backoff: { delays: ["5s", "30s", "5m"] } } });
  expect(facts.some((each) => each.includes("is used once is a guess"))).toBe(true);
});

test("a policy for all queues makes the dead queue no consumer", () => {
  const everywhere = { vhost: "/", name: "dlx", pattern: ".*", "apply-to": "queues", priority: 0 };
  const { draft, unsaid } = adoptText(
    JSON.stringify({
      rabbitmq_version: "4.3.6",
      vhosts,
      exchanges: [exchange("orders", "topic"), exchange("dlx", "topic")],
      queues: [queue("billing", quorum), queue("letters", quorum)],
      bindings: [binding("orders", "billing", "#"), binding("dlx", "letters", "#")],
      policies: [{ ...everywhere, definition: { "dead-letter-exchange": "dlx" } }],
    }),
  );
  expect(draft.system.consumers).toMatchObject({ billing: { deadLetter: { queue: "letters" } } });
  expect(Object.keys(draft.system.consumers)).toEqual(["billing"]);
  expect(unsaid.filter(({ fact }) => fact.includes("has a consumer"))).toEqual([]);
});

test("a waiting queue for times of single messages leaves the schedule to the code", () => {
  const { consumer, comments, facts } = inferredWith({
    exchanges: [exchange("jobs", "direct"), exchange("retry", "direct")],
    queues: [queue("jobs", quorum), queue("jobs.wait", { ...quorum, "x-dead-letter-exchange": "jobs" })],
    bindings: [binding("jobs", "jobs", "import"), binding("retry", "jobs.wait", "import")],
  });
  expect(consumer).toMatchObject({ retry: { attempts: 1 } });
  expect(comments).toContainEqual(expect.stringMatching(/^write the schedule of its code here.* to jobs\.wait$/));
  expect(facts).toContainEqual("jobs: messages in jobs.wait have times to live of their own");
  expect(facts.some((each) => each.includes("is used once"))).toBe(false);
});

test("a consumer whose failures go to another consumer", () => {
  const { draft, unsaid } = adoptText(
    exported({
      queues: [
        queue("a", { ...quorum, ...deadTo("b") }),
        queue("b", { ...quorum, ...deadTo("b.dead") }),
        queue("b.dead", quorum),
      ],
      exchanges: [exchange("e", "fanout")],
      bindings: [binding("e", "a"), binding("e", "b")],
    }),
  );
  expect(Object.keys(draft.system.consumers)).toEqual(["a", "b"]);
  const facts = unsaid.filter(({ place }) => place === "a").map(({ fact }) => fact);
  expect(facts).toContainEqual(expect.stringMatching(/^its rejected messages go to b, which has a consumer/));
  expect(facts.some((each) => each.includes("no queue keeps"))).toBe(false);
});

test("an exchange that no declaration can make keeps its owner, and the list says why", () => {
  const special = [
    { ...exchange("checked", "topic"), arguments: { "alternate-exchange": "unrouted" } },
    { ...exchange("later", "x-delayed-message"), arguments: { "x-delayed-type": "topic" } },
  ];
  const { facts } = inferred({
    exchanges: [exchange("plain", "topic"), ...special],
    queues: [queue("work", quorum)],
    bindings: ["plain", "checked", "later"].map((source) => binding(source, "work", "a")),
  });
  expect(facts).toContainEqual(
    expect.stringMatching(/^checked: it has alternate-exchange, which no declared exchange/),
  );
  expect(facts).toContainEqual(expect.stringMatching(/^later: it delays messages by their x-delay/));
  expect(facts.filter((each) => each.includes("nothing shows who makes it"))).toEqual([
    expect.stringMatching(/^plain: /),
  ]);
});

test("queues of tools and of instances are no consumers, and give no dead queue its name", () => {
  const names = ["Sales", "Particular.ServiceControl", "Particular.ServiceControl.errors", "sales.response.7c31f"];
  const { name, facts, draft } = inferred({ queues: names.map((each) => queue(each, quorum)) });
  expect(name).toBe("Sales");
  expect(draft.system["names"]).toEqual({ queue: "{consumer}" });
  expect(facts.filter((each) => each.includes("by its name a tool of NServiceBus"))).toHaveLength(2);
  expect(facts).toContainEqual(expect.stringMatching(/^sales\.response\.7c31f: by its name it holds copies/));
  expect(writeYaml(draft, draft.unsaid)).toMatch(
    /# - Particular\.ServiceControl, Particular\.ServiceControl\.errors: by/,
  );
});

test("a queue for the failures of any consumer is named, and nobody says that there is none", () => {
  const { facts } = inferred({ queues: [queue("Shipping", quorum), queue("error", quorum)] });
  expect(facts).toContainEqual(expect.stringMatching(/^error: it holds failed messages, and nothing shows whose/));
  expect(facts.filter((each) => each.includes("no queue keeps its dead letters"))).toEqual([]);
  const none = inferred({ queues: [queue("Shipping", quorum)] });
  expect(none.facts).toContainEqual(expect.stringMatching(/^Shipping: no queue keeps its dead letters today/));
});

test("a dead queue with a name of Redeliver's own stays, and its consumer is not left out", () => {
  const dying = (name: string, dead: string): object[] => [
    queue(name, { ...quorum, ...deadTo(dead) }),
    queue(dead, quorum),
  ];
  const { draft, refused, unsaid, proved } = adoptText(
    exported({ queues: [...dying("orders", "orders.failed"), ...dying("mail", "mail.dlq")] }),
  );
  expect([Object.keys(draft.system.consumers), refused]).toEqual([["orders", "mail"], []]);
  expect(proved.compiled.contracts.map(({ deadQueue }) => deadQueue)).toEqual(["orders.dlq", "mail.dlq"]);
  expect(unsaid).toContainEqual(
    expect.objectContaining({
      place: "orders.failed",
      fact: expect.stringMatching(/^it is not the declared dead queue: .*orders\.failed/) as unknown,
    }),
  );
});

test("a queue that gives way to a new one is compared by its arguments, and not by policies that it never gets", () => {
  const { judged, fixed } = adoptText(exported({ queues: [queue("work", { "x-queue-type": "classic" })] }));
  expect(judged).toEqual([]);
  expect([...fixed.keys()]).toEqual(["queue work"]);
});

test("a dead queue that gets copies of all letters is no queue of one consumer", () => {
  const dying = (key: string) => ({ ...quorum, "x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": key });
  const adopted = adoptText(
    exported({
      exchanges: [exchange("dlx", "topic")],
      queues: [
        queue("emails", dying("emails.dead")),
        queue("reminders", dying("reminders")),
        queue("emails.dead", quorum),
        queue("app.dead"),
      ],
      bindings: [binding("dlx", "emails.dead", "emails.dead"), binding("dlx", "app.dead", "#")],
    }),
  );
  expect(adopted.imports.moves.map(({ letters }) => [letters?.dead, letters?.isShared])).toEqual([
    ["emails.dead", false],
    ["app.dead", true],
  ]);
  const text = renderAdoption(adopted, false, null);
  expect(text).toContain("leave app.dead as long as letters of others come into it, and delete it when it is empty");
  expect(text).toContain("redeliver dead discard --queue app.dead --failed-in reminders --url ");
  expect(text).not.toContain("delete it when it is empty\n     api DELETE /api/queues/%2F/app.dead");
  // A fact about several queues stands there once.
  const facts = new Set(adopted.unsaid.map(({ fact }) => fact));
  expect(facts.size).toBeLessThan(adopted.unsaid.length);
  expect(text).toContain(`what it cannot say (${facts.size})`);
});

test("of a shared dead queue, only the letters that name the work queue are sent again", () => {
  const dying = { ...quorum, ...deadTo("dead") };
  const adopted = adoptText(
    exported({ queues: [queue("orders", dying), queue("mail", dying), queue("dead", quorum)] }),
  );
  const { imports } = adopted;
  const text = renderAdoption(adopted, false, null);
  expect(imports.moves.map(({ queue: from }) => from)).toEqual(["orders", "mail"]);
  for (const { queue: from, letters } of imports.moves) {
    expect(letters).toMatchObject({
      dead: "dead",
      isShared: true,
      limit: null,
      remove: ["DELETE /api/queues/%2F/dead"],
    });
    expect(text).toContain(`redrive FILE --target TARGET --consumer ${from} --queue dead --failed-in ${from} --url `);
  }
});

describe("policies of others that stay in force", () => {
  const policy = (given: object): object => ({
    vhost: "/",
    name: "team",
    pattern: "^work",
    "apply-to": "queues",
    priority: 2_000,
    ...given,
  });
  const adopted = (given: object) =>
    adopting(
      { kind: "adopt", text: exported({ queues: [queue("work", quorum)], policies: [policy(given)] }) },
      "rabbitmq@4.3",
      "shop",
      "rabbitmq",
    );
  test("stand in the target, and the proof holds with them", () => {
    const found = adopted({ definition: { "queue-leader-locator": "balanced" } });
    expect(found).toMatchObject({
      ok: true,
      value: { draft: { options: { policies: [{ name: "team", kind: "user", priority: 2_000 }] } } },
    });
    expect(found.ok && found.value.proved.compiled.topology).toHaveProperty("assumed");
  });
  test("are an error if a promise breaks by them", () => {
    const found = adopted({ definition: { "max-length": 100 } });
    expect(found).toMatchObject({
      ok: true,
      warnings: expect.arrayContaining([expect.objectContaining({ code: "RD242" })]) as unknown,
    });
  });
  test("are left out if a compiled policy outranks them", () => {
    const found = adopted({ priority: 0, definition: { "max-length": 100 } });
    expect(found).toMatchObject({ ok: true, value: { draft: { options: {} } } });
  });
});

test.each([
  ["topic", "all"],
  ["headers", "all"],
  ["fanout", "nsb.v2.delay-delivery"],
])("the exchange that leads into a %s source is named beside it: %s", (type, before) => {
  const { draft } = adoptText(
    exported({
      exchanges: [exchange(before, "topic"), exchange("mine", type)],
      queues: [queue("work", quorum)],
      bindings: [binding(before, "mine", "#", "exchange"), binding("mine", "work", "key")],
    }),
  );
  const comment = draft.comments.find(({ path }) => path.join(".") === "sources.mine")?.text;
  expect(comment).toBe(`the ${type} exchange mine, bound to work; ${before} leads into it and stays as it is`);
});

describe("a queue with the name of parked letters", () => {
  const parked = queue("work.parked", quorum);
  const deadOf = (dead: string, ...more: readonly ReturnType<typeof queue>[]) => {
    const { proved, facts, draft } = inferred({
      queues: [queue("work", { ...quorum, ...deadTo(dead) }), parked, ...more],
    });
    const [{ deadQueue } = { deadQueue: "" }] = proved.compiled.contracts;
    return { deadQueue, facts, isParking: JSON.stringify(draft.system).includes('"park":true') };
  };
  test("is the dead queue if messages end there", () => {
    const { deadQueue, facts, isParking } = deadOf("work.parked");
    expect([deadQueue, isParking]).toEqual(["work.parked", false]);
    expect(facts.filter((each) => each.includes("not the declared dead queue"))).toEqual([]);
  });
  test("is for parked letters beside another dead queue", () => {
    const { deadQueue, isParking } = deadOf("work.dead", queue("work.dead", quorum));
    expect([deadQueue, isParking]).toEqual(["work.dead", true]);
  });
});

test("a queue that can stay does not move because of a queue with the name of parked letters", () => {
  const { consumer, imports } = inferred({
    queues: [queue("work", quorum), queue("work.parked", { "x-queue-type": "classic" })],
  });
  expect(imports.moves).toEqual([]);
  expect(JSON.stringify(consumer)).not.toContain("park");
});
