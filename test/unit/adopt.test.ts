import { describe, expect, test } from "vitest";

import { movedDraft } from "../../src/adopt/moved-draft.ts";
import { writeYaml } from "../../src/adopt/write-yaml.ts";
import { parseText } from "../../src/declare/parse.ts";
import { brokers, checkSystem, compile } from "../../src/index.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { accepted, checked } from "../support/examples.ts";
import { binding, deadThrough, exchange, queue, vhosts, waiting } from "../support/known-topologies.ts";
import { adopting, adoptText, reportedByAdopt } from "../support/reported-by-adopt.ts";

interface Drafted {
  readonly retry: { readonly attempts: number; readonly backoff: object };
}

describe.for(Object.entries(adoptedTopologies))("%s", ([, topology]) => {
  const adopted = adoptText(exportOf(topology));
  const { compiled } = adopted.proved;

  test("is declared with its own names and schedule", () => {
    const consumers = Object.values(adopted.draft.system.consumers) as readonly Drafted[];
    const found = compiled.contracts.map(({ workQueue, deadQueue }, index) => {
      const { retry } = consumers[index] as Drafted;
      return [workQueue, [retry.attempts, retry.backoff, deadQueue]];
    });
    expect(Object.fromEntries(found)).toEqual(topology.consumers);
    const { exchanges = [] } = compiled.topology as {
      exchanges?: readonly { name: string; role: string; owner?: string }[];
    };
    const sources = exchanges.filter(({ role }) => role === "source");
    expect(sources.map(({ name }) => name).toSorted()).toEqual([...topology.sources].toSorted());
    expect(sources.every(({ owner }) => owner === "other")).toBe(true);
  });

  test("has a fact that the declaration cannot say", () => {
    expect(adopted.unsaid.map(({ place, fact }) => `${place}: ${fact}`)).toContainEqual(
      expect.stringMatching(topology.unsaid),
    );
    expect(adopted.refused).toEqual([]);
  });

  test("is warned of if a deployment over it would lose messages", () => {
    const codes = reportedByAdopt({ kind: "adopt", text: exportOf(topology) }).map(({ code }) => code);
    expect(codes.includes("RD334")).toBe(topology.rejected === "lost after");
    const lostToday = adopted.unsaid.some(({ fact }) => fact.includes("a rejected message has no way on"));
    expect(lostToday).toBe(topology.rejected === "lost today");
    const [, losses = ""] =
      /^These lose messages today:\n((?: {2}.*\n)*)/m.exec(renderAdoption(adopted, false, null)) ?? [];
    expect(losses.includes("a rejected message has no way on")).toBe(lostToday);
  });

  test("is written as YAML with comments, and reads back as the same declaration", () => {
    const text = writeYaml(adopted.draft, adopted.unsaid);
    const parsed = parseText(text, "yaml");
    expect(parsed).toMatchObject({ ok: true, value: adopted.draft.system });
    expect(checkSystem(parsed.ok ? parsed.value : null)).toMatchObject({ ok: true });
    const comments = text.split("\n").filter((line) => line.trimStart().startsWith("#"));
    expect(comments.length).toBeGreaterThan(adopted.draft.comments.length);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(130);
  });
});

test("no template gives a dead queue the name of a queue with another purpose", () => {
  const made = { vhost: "/", durable: true, auto_delete: false };
  const queue = (name: string, given: object): object => ({
    ...made,
    name,
    arguments: { "x-queue-type": "quorum", ...given },
  });
  const dies = (key: string): object => ({ "x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": key });
  const back = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "billing" };
  const { draft, proved } = adoptText(
    JSON.stringify({
      rabbitmq_version: "4.3.6",
      vhosts: [{ name: "/" }],
      exchanges: [{ ...made, name: "dlx", type: "direct", internal: false, arguments: {} }],
      queues: [
        queue("billing", dies("billing")),
        // Rejected messages wait in it, and come back.
        queue("billing.dlq", { "x-message-ttl": 5_000, ...back }),
        queue("mail", dies("mail")),
        queue("mail.dlq", {}),
      ],
      bindings: ["billing", "mail"].map((name) => ({
        vhost: "/",
        source: "dlx",
        destination: `${name}.dlq`,
        destination_type: "queue",
        routing_key: name,
        arguments: {},
      })),
      policies: [],
    }),
  );
  expect(draft.system["names"]).toEqual({ queue: "{consumer}" });
  expect(draft.system.consumers).toMatchObject({ mail: { deadLetter: { queue: "mail.dlq" } } });
  expect(proved.compiled.contracts.map(({ deadQueue }) => deadQueue)).toEqual(["billing.dead", "mail.dlq"]);
});

test("a new queue gets a name that no queue has, and only ways that it has as well are ended", () => {
  const dying = { "x-queue-type": "quorum", ...deadThrough("", "billing.retry") };
  const { imports } = adoptText(
    JSON.stringify({
      rabbitmq_version: "4.3.6",
      vhosts,
      exchanges: [exchange("orders", "fanout"), exchange("again", "direct")],
      queues: [
        queue("billing", dying),
        queue("billing.2"),
        queue("billing.retry", waiting(30_000, "again", "billing")),
        queue("billing.dlq"),
      ],
      bindings: [
        binding("orders", "billing", "any"),
        binding("orders", "billing", "other"),
        // Waiting messages come back by this one.
        binding("again", "billing", "billing"),
      ],
    }),
  );
  expect(imports.moves.find(({ queue: old }) => old === "billing")).toEqual({
    consumer: "billing",
    queue: "billing",
    next: "billing.3",
    keptDead: null,
    nextDead: "billing.3.dead",
    letters: {
      dead: "billing.dlq",
      limit: null,
      isShared: false,
      policy: null,
      at: "--url amqp://USER@HOST/%2F --management-url http://HOST:15672",
      remove: ["DELETE '/api/queues/%2F/billing.dlq?if-empty=true'"],
      before: [],
    },
    unbind: ["DELETE /api/bindings/%2F/e/orders/q/billing/any", "DELETE /api/bindings/%2F/e/orders/q/billing/other"],
    choosing: [],
    staying: ["again"],
    backWays: ["again"],
    waits: ["billing.retry"],
    sharedWaits: [],
    used: ["billing", "billing.retry"].map((name) => ({ queue: name, feeders: [], publishers: [] })),
    takenOver: [],
    oldWays: { ends: [], staying: [] },
    remove: ["DELETE /api/queues/%2F/billing", "DELETE '/api/queues/%2F/billing.retry?if-empty=true'"],
    isOrdered: false,
  });
});

test("in the middle of a move, the new queue that is there stays the next one", () => {
  const topology = adoptedTopologies["Spring Cloud Stream with autoBindDlq"] ?? expect.unreachable();
  const before = JSON.parse(exportOf(topology)) as Record<string, readonly object[]>;
  const adopted = adoptText(exportOf(topology));
  const [move] = adopted.imports.moves;
  const moved = movedDraft(adopted.draft, adopted.imports.moves);
  const target = { broker: "rabbitmq", version: "4.3", ...moved.options } as const;
  const compiled = accepted(compile(checked(moved.system), target));
  const made = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/") as typeof before;
  const both = ["queues", "exchanges", "bindings", "policies"].map((kind) => [
    kind,
    [...(before[kind] ?? []), ...(made[kind] ?? [])],
  ]);
  const again = adopting(
    { kind: "adopt", text: JSON.stringify({ ...before, ...Object.fromEntries(both) }), queues: [move?.queue ?? ""] },
    "rabbitmq@4.3",
    "shop",
  );
  expect(again.ok && again.value.imports.moves).toMatchObject([{ queue: move?.queue, next: move?.next }]);
});

test("waiting messages that come back through the source come to the new queue, and the steps say so", () => {
  const topology = adoptedTopologies["Spring AMQP with a way back through its source"] ?? expect.unreachable();
  const adopted = adoptText(exportOf(topology));
  const [move] = adopted.imports.moves;
  expect(move).toMatchObject({ waits: ["orders.retry"], takenOver: ["orders.retry"], staying: [] });
  expect(move?.unbind).toHaveLength(2);
  const text = renderAdoption(adopted, false, null);
  expect(text).toContain("messages in orders.retry come back to orders.process.2, where they have all attempts again");
  expect(text).not.toContain("with the messages that come back");
  expect(writeYaml(adopted.draft, adopted.unsaid).replaceAll(/\n\s*# /g, " ")).toContain(
    'messages that wait in orders.retry come back by its key "orders.process"',
  );
});

test("the owner of a dead queue that stays has to give it up, although its consumer moves", () => {
  const topology = adoptedTopologies["Spring AMQP with a waiting queue and a parking lot"] ?? expect.unreachable();
  const adopted = adoptText(exportOf(topology));
  const { imports } = adopted;
  expect(imports.moves).toMatchObject([{ queue: "orders.q", keptDead: "orders.q.parkingLot" }]);
  expect(renderAdoption(adopted, false, null)).toMatch(
    /5\. at any time, send the letters of orders\.q\.parkingLot again:\n +npx redeliver dead redrive FILE --target rabbitmq@[\d.]+ --consumer orders\.q --queue orders\.q\.parkingLot --url \S+ --management-url \S+$/m,
  );
  const ids = (all: readonly { readonly id?: string }[]) => all.flatMap(({ id }) => id ?? []);
  expect(ids(imports.present)).toEqual(["orders.q.parkingLot@/"]);
  expect(ids(imports.entries)).toEqual(["orders.q.parkingLot@/"]);
});

test("a source that takes every key names none", () => {
  const topology = adoptedTopologies["Symfony Messenger"] ?? expect.unreachable();
  const { draft, unsaid } = adoptText(exportOf(topology));
  expect(writeYaml(draft, unsaid)).not.toContain("by its key");
});

test.for([
  ["none on 4.x", "4.3.6", {}, [], { "delivery-limit": -1 }],
  [
    "a policy's on 4.x",
    "4.3.6",
    {},
    [{ "delivery-limit": 5, "max-length": 9 }],
    { "delivery-limit": -1, "max-length": 9 },
  ],
  ["a policy's on 3.10", "3.10.8", {}, [{ "delivery-limit": 5, "max-length": 9 }], { "max-length": 9 }],
  ["none on 3.10", "3.10.8", {}, [], null],
  ["no limit on 4.x", "4.3.6", { "x-delivery-limit": -1 }, [], null],
  ["an argument on 4.x", "4.3.6", { "x-delivery-limit": 3 }, [], 3],
] as const)(
  "letters leave a dead queue under a policy without a limit, and other values stay in force: %s",
  ([, version, given, definitions, lifted]) => {
    const [letters] = adoptText(
      JSON.stringify({
        rabbitmq_version: version,
        vhosts,
        exchanges: [exchange("orders", "fanout")],
        queues: [
          queue("billing", { "x-queue-type": "quorum", ...deadThrough("", "billing.dlq") }),
          // With such an argument it cannot stay.
          queue("billing.dlq", { "x-queue-type": "quorum", "x-max-length": 9, ...given }),
        ],
        bindings: [binding("orders", "billing", "")],
        policies: definitions.map((definition) => ({
          vhost: "/",
          name: "all",
          pattern: "dlq",
          "apply-to": "queues",
          priority: 7,
          definition,
        })),
      }),
      `rabbitmq@${version.slice(0, version.lastIndexOf("."))}`,
    ).imports.moves.map((move) => move.letters);
    expect(letters?.limit ?? null).toBe(typeof lifted === "number" ? lifted : null);
    if (lifted === null || typeof lifted === "number") return expect(letters?.policy).toBeNull();
    const [, request, body = ""] = /^PUT (\S+) '(.+)'$/.exec(letters?.policy?.set ?? "") ?? [];
    expect(letters?.policy?.end).toBe(`DELETE ${request}`);
    expect(JSON.parse(body)).toEqual({
      pattern: String.raw`^billing\.dlq$`,
      "apply-to": "queues",
      priority: definitions.length === 0 ? 1 : 8,
      definition: lifted,
    });
  },
);

test("nothing tells producers the new queue while they may publish to an exchange that leads to the old one", () => {
  const adopted = adoptText(JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, queues: [queue("mail")] }));
  const text = (staying: readonly string[]): string => {
    const moves = adopted.imports.moves.map((move) => ({ ...move, staying }));
    return renderAdoption({ ...adopted, imports: { ...adopted.imports, moves } }, false, null);
  };
  const [none, some] = [text([]), text(["again"])];
  expect([none, some].map((each) => each.includes("let the producers send to mail.2"))).toEqual([true, false]);
  expect(some).toContain("find out who publishes to again. Their messages still come into mail");
  expect(some).toContain("0 resources, so nothing needs an import");
});

test.for([
  [
    "http://ops@rabbit.example:15672/shop",
    "--url amqp://ops@rabbit.example/%2F --management-url http://rabbit.example:15672",
  ],
  ["https://rabbit.example/%2F", "--url amqps://rabbit.example/%2F --management-url https://rabbit.example"],
  ["http://ops:secret@[::1]:8080/%2F", "--url 'amqp://ops@[::1]:AMQP_PORT/%2F' --management-url 'http://[::1]:8080'"],
])("the command for the letters names the broker, without a password: %s", ([url, words]) => {
  const text = exportOf(adoptedTopologies["a delivery limit and a dead queue"] ?? expect.unreachable());
  const [move] = adoptText(text, "rabbitmq@4.3", "shop", "rabbitmq", url).imports.moves;
  expect(move?.letters?.at).toBe(words);
});

test("messages of a single active consumer keep their order on the way to a new queue", () => {
  const text = (more: object): string =>
    renderAdoption(
      adoptText(
        JSON.stringify({
          rabbitmq_version: "4.3.6",
          vhosts,
          exchanges: [exchange("orders", "fanout")],
          queues: [queue("billing", { "x-queue-type": "quorum", ...deadThrough("", "billing.dlq"), ...more })],
          bindings: [binding("orders", "billing", "")],
        }),
      ),
      false,
      null,
    );
  const start = "start the new code of billing";
  const [ordered, free] = [text({ "x-single-active-consumer": true }), text({})];
  expect(ordered.indexOf(start)).toBeGreaterThan(ordered.indexOf("when billing is empty, stop the old code"));
  expect(free.indexOf(start)).toBeLessThan(free.indexOf("when billing is empty, stop the old code"));
  expect([ordered, free].map((each) => each.split(start).length)).toEqual([2, 2]);
});

test("two consumers move to two queues, and a dead queue with a name of its own gets a new one, too", () => {
  const dying = { "x-queue-type": "quorum", ...deadThrough("", "failures") };
  const text = (queues: readonly object[]): string =>
    JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, exchanges: [], bindings: [], queues });
  const numbered = adoptText(text([queue("orders.1"), queue("orders.2")])).imports.moves;
  expect(numbered.map(({ next }) => next)).toEqual(["orders.3", "orders.4"]);
  const adopted = adoptText(text([queue("mail", dying), queue("failures")]));
  expect(adopted.imports.moves).toMatchObject([{ consumer: "mail", letters: { dead: "failures" }, keptDead: null }]);
  expect(adopted.draft.system.consumers).toMatchObject({ mail: { deadLetter: { queue: "failures" } } });
  expect(renderAdoption(adopted, false, null)).toContain(
    'write "queue: mail.2" for mail into the declaration, take its deadLetter away, and deploy',
  );
});

test.for([
  ["a+b", "a%252Bb"],
  ["b~c", "b%257Ec"],
  ["~", "%257E"],
  ["x%41", "x%252541"],
  ["order.#", "order.%23"],
])("a request names the key %s as the broker does", ([key, name]) => {
  const { imports } = adoptText(
    JSON.stringify({
      rabbitmq_version: "4.3.6",
      vhosts,
      exchanges: [exchange("orders", "topic")],
      queues: [queue("billing")],
      bindings: [binding("orders", "billing", key)],
    }),
  );
  expect(imports.moves[0]?.unbind).toEqual([`DELETE /api/bindings/%2F/e/orders/q/billing/${name}`]);
});

describe("a limit on the length of a work queue", () => {
  const limited = (given: object, limits: object = {}, isRetried = false) => {
    const type = { "x-queue-type": "quorum" };
    const { draft, unsaid } = adoptText(
      JSON.stringify({
        rabbitmq_version: "4.3.6",
        vhosts,
        exchanges: [],
        queues: [
          queue("billing", { ...type, ...deadThrough("", "billing.next"), ...given }),
          queue("billing.next", isRetried ? { ...type, ...waiting(5_000, "", "billing") } : type),
        ],
        bindings: [],
        policies: [
          { vhost: "/", name: "limits", pattern: "^billing$", "apply-to": "queues", priority: 0, definition: limits },
        ],
      }),
    );
    const { billing } = draft.system.consumers as { readonly billing: { readonly queueArguments?: object } };
    return {
      said: billing.queueArguments,
      unsaid: unsaid.flatMap(({ fact }) => /^max-length\S* is \d+/.exec(fact) ?? []),
    };
  };
  const rejects = { "x-max-length": 100, "x-overflow": "reject-publish" };
  test("is declared if the queue refuses messages", () => {
    expect(limited(rejects)).toEqual({ said: { maxLength: 100 }, unsaid: [] });
    const single = { ...rejects, "x-single-active-consumer": true };
    expect(limited(single).said).toEqual({ singleActiveConsumer: true, maxLength: 100 });
  });
  test("is declared if a policy sets it", () => {
    const policy = { "max-length-bytes": 5_000, overflow: "reject-publish" };
    expect(limited({}, policy)).toEqual({ said: { maxLengthBytes: 5_000 }, unsaid: [] });
  });
  test("is a fact beside the declaration if the queue drops messages", () => {
    expect(limited({ "x-max-length": 100 })).toEqual({ said: undefined, unsaid: ["max-length is 100"] });
  });
  test("is a fact beside the declaration if no strategy allows it", () => {
    const both = { ...rejects, "x-max-length-bytes": 5_000, "x-single-active-consumer": true };
    expect(limited(both, {}, true)).toEqual({
      said: { singleActiveConsumer: true },
      unsaid: ["max-length is 100", "max-length-bytes is 5000"],
    });
  });
});
