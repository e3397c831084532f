import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { placeOf } from "../../src/brokers/rabbitmq/foreign/deployment.ts";
import { brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { compile } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";
import { binding, queue as plainQueue } from "../support/known-topologies.ts";
import type { Read } from "../support/read-topology.ts";
import { builtIn, codesOf, readState, reported, topologyIn, withoutBuiltIn } from "../support/read-topology.ts";

const { rabbitmq } = brokers;
const { auditor } = rabbitmq;
const readDefinitions = auditor.file.read;
const read = (data: object): Read => readDefinitions(JSON.stringify(data));
const queue = (name: string, rest: object = {}): object => ({ ...plainQueue(name), ...rest });

test("our own export reads back as the same topology, for any declaration, target and virtual host", () => {
  fc.assert(
    fc.property(anySystem, anyTarget, fc.constantFrom("/", "shop", "ü/注"), (input, target, vhost) => {
      const compiled = compile(checked(input), target);
      if (!compiled.ok) return;
      const text = JSON.stringify(rabbitmq.exportFormats["definitions"]?.(compiled.value, vhost));
      const result = readDefinitions(text);
      expect(codesOf(result)).toEqual([]);
      expect(withoutBuiltIn(topologyIn(result, vhost))).toEqual(brokerTopologyOf(compiled.value.topology));
    }),
    { numRuns: 50 },
  );
});

describe("a broken text gives a topology or one diagnostic", () => {
  const formats = [readDefinitions, readState];

  test("any JSON", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record(
        Object.fromEntries(
          ["vhosts", "queues", "exchanges", "bindings", "policies", "parameters", "rabbit_version", "deployment"].map(
            (key) => [
              key,
              fc.oneof(
                fc.jsonValue(),
                fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(queue("a"), binding("x", "a", "key")))),
              ),
            ],
          ),
        ),
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(value, (data) => {
        for (const format of formats) {
          const result = format(JSON.stringify(data));
          if (!result.ok) expect(result.diagnostics).toHaveLength(1);
        }
      }),
    );
  });

  test("any text, and no part of it is shown", () => {
    const secret = "s3cr3t-hash";
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (junk) => {
        for (const format of formats) {
          const result = format(`{"password_hash": "${secret}", ${junk}`);
          if (result.ok) continue;
          expect(result.diagnostics).toHaveLength(1);
          expect(JSON.stringify(result)).not.toContain(secret);
        }
      }),
    );
  });

  test("an export that was cut off is called truncated, with the place", () => {
    const text = JSON.stringify(
      { rabbit_version: "4.3.5", queues: [queue('a"\\ü', { n: -1.5e-7, t: true })] },
      null,
      1,
    );
    for (let length = 1; length < text.length - 1; length += 1) {
      const [only, ...rest] = reported(readDefinitions(text.slice(0, length)));
      expect([only?.code, rest]).toEqual(["RD002", []]);
      expect(only?.message, text.slice(0, length)).toContain("truncated");
    }
  });

  test.each([
    ['{\n "queues": [\n  {"name": "a",}\n ]\n}', "line 3, column 16"],
    ['{"a": 01}', "line 1, column 8"],
    ['{"a": "\t"}', "line 1, column 8"],
    ['{"a": "\\x"}', "line 1, column 8"],
    ["[1 2]", "line 1, column 4"],
    ["{} {}", "line 1, column 4"],
    ["queues:\n- a", "line 1, column 1"],
  ])("%j is not JSON from %s on", (text, place) => {
    expect(reported(readDefinitions(text)).map(({ code, message }) => [code, message.includes(place)])).toEqual([
      ["RD002", true],
    ]);
  });

  test("a string of many megabytes in broken JSON", () => {
    expect(codesOf(readDefinitions(`{"a": "${"x".repeat(20_000_000)}", }`))).toEqual(["RD002"]);
  });

  test.each(["", " \n", "\ufeff"])("an empty text: %j", (text) => {
    expect(codesOf(readDefinitions(text))).toEqual(["RD004"]);
  });

  test.each(['{"name":"shop","version":"1.0.0"}', "[]", '"text"', "3", "null", "{}", '{"queues":{}}'])(
    "%s is not a definitions file",
    (text) => {
      expect(codesOf(readDefinitions(text))).toEqual(["RD401"]);
    },
  );

  test("the refusal of each kind of file names the option for it", () => {
    expect(JSON.stringify(readDefinitions('{"version":3,"deployment":{}}'))).toContain("--stack");
    expect(JSON.stringify(readState('{"rabbit_version":"4.3.5"}'))).toContain("--definitions");
  });
});

describe("a definitions file", () => {
  test.each([
    ["queues", { vhost: "/" }, "queues[0].name"],
    ["queues", { name: 3, vhost: "/" }, "queues[0].name"],
    ["queues", { name: "a", vhost: "/", arguments: "none" }, "queues[0].arguments"],
    ["exchanges", { name: "a", vhost: "/" }, "exchanges[0].type"],
    ["bindings", { source: "a", vhost: "/", destination: "b" }, "bindings[0].destination_type"],
    ["policies", { name: "a", vhost: "/" }, "policies[0].pattern"],
    ["vhosts", {}, "vhosts[0].name"],
  ])("a malformed entry of %s is named by its path", (list, entry, path) => {
    const result = read({ rabbit_version: "4.3.5", [list]: [entry] });
    expect(reported(result).map((each) => [each.code, each.path])).toEqual([["RD402", path]]);
  });

  test("a thousand malformed entries give one diagnostic", () => {
    const result = read({ queues: Array.from({ length: 1_000 }, () => ({ vhost: "/" })) });
    expect(reported(result).map(({ code, notes }) => [code, notes])).toEqual([
      ["RD402", ["999 more of the file's entries are malformed"]],
    ]);
  });

  test("unknown keys are skipped, as in a broker's import", () => {
    const result = read({ rabbitmq_version: "4.3.9", superstreams: [1], queues: [queue("a", { shards: 3 })] });
    expect(codesOf(result)).toEqual([]);
  });

  test("a queue's type is its own, then the argument, then the default of the virtual host if it applies", () => {
    const result = read({
      vhosts: [{ name: "/", metadata: { default_queue_type: "quorum" } }],
      queues: [
        queue("own", { type: "stream", arguments: { "x-queue-type": "stream" } }),
        queue("argument", { arguments: { "x-queue-type": "classic" } }),
        queue("default"),
        queue("transient", { durable: false }),
        queue("auto-delete", { auto_delete: true }),
      ],
    });
    expect(topologyIn(result).queues.map(({ name, kind }) => [name, kind])).toEqual([
      ["own", "stream"],
      ["argument", "classic"],
      ["default", "quorum"],
      ["transient", "classic"],
      ["auto-delete", "classic"],
    ]);
  });

  test("of one virtual host: its entries need no name for it, and it has its own default queue type", () => {
    const nameless = { name: "a", durable: true, arguments: {} };
    const now = read({
      rabbitmq_version: "4.3.5",
      original_vhost_name: "shop",
      metadata: { default_queue_type: "quorum" },
      queues: [nameless],
    });
    expect(topologyIn(now, "shop").queues[0]?.kind).toBe("quorum");
    const policy = { vhost: "old", name: "p", pattern: "a", definition: {}, priority: 0, "apply-to": "all" };
    expect(
      topologyIn(read({ rabbit_version: "3.10.8", queues: [nameless], policies: [policy] }), "old").queues,
    ).toHaveLength(1);
    expect(topologyIn(read({ rabbit_version: "3.10.8", queues: [nameless] }), "(not named)").queues).toHaveLength(1);
    expect(codesOf(read({ vhosts: [{ name: "a" }, { name: "b" }], queues: [nameless] }))).toEqual(["RD402"]);
  });

  test("the exchanges of every virtual host exist; empty lists stand for empty tables", () => {
    const { exchanges } = topologyIn(read({ queues: [queue("a", { arguments: [] })] }));
    expect(exchanges.map(({ name }) => name)).toEqual(builtIn);
  });

  test("operator policies are read from the parameters", () => {
    const value = { pattern: "^a$", definition: { "max-length": 10 }, priority: 2, "apply-to": "queues" };
    const parameters = [
      { vhost: "/", component: "operator_policy", name: "ceiling", value },
      { vhost: "/", component: "shovel", name: "s", value: {} },
    ];
    expect(topologyIn(read({ queues: [queue("a")], parameters })).policies).toEqual([
      {
        name: "ceiling",
        kind: "operator",
        applyTo: "queues",
        pattern: "^a$",
        priority: 2,
        definition: value.definition,
      },
    ]);
  });

  test("rabbitmqctl up to 4.1.5 writes the definition of an operator policy as a list of pairs", () => {
    const value = {
      pattern: "^a$",
      definition: [
        ["expires", 7_000],
        ["max-length", 10],
      ],
      priority: 0,
      "apply-to": "queues",
    };
    const parameters = [{ vhost: "/", component: "operator_policy", name: "ceiling", value }];
    expect(topologyIn(read({ queues: [], parameters })).policies[0]?.definition).toEqual({
      expires: 7_000,
      "max-length": 10,
    });
  });

  test("of two entries with one name the first counts, with a warning", () => {
    const result = read({ queues: [queue("a", { type: "quorum" }), queue("a", { type: "classic" })] });
    expect(codesOf(result)).toEqual(["RD404"]);
    expect(topologyIn(result).queues).toMatchObject([{ kind: "quorum" }]);
  });

  test("bindings to missing resources give one warning for queues and one for exchanges", () => {
    const result = read({
      queues: [queue("a")],
      bindings: [
        binding("amq.topic", "gone", "key"),
        binding("inner", "a", "key"),
        binding("amq.topic", "inner", "key", "exchange"),
      ],
    });
    expect(codesOf(result)).toEqual(["RD405", "RD405"]);
    const { bindings, exchanges } = topologyIn(result);
    expect(bindings.map(({ source, destination }) => `${source} ${destination}`)).toEqual([
      "inner a",
      "amq.topic inner",
    ]);
    expect(exchanges.find(({ name }) => name === "inner")?.kind).toBe("direct");
  });

  test.each([
    ["x-delayed-message", { "x-delayed-type": "topic" }, "topic", []],
    ["x-delayed-message", { "x-delayed-type": "x-random" }, "fanout", ["RD406"]],
    ["x-delayed-message", {}, "fanout", ["RD406"]],
    ["x-recent-history", {}, "fanout", []],
    ["x-consistent-hash", {}, "fanout", ["RD406"]],
    ["x-modulus-hash", {}, "fanout", ["RD406"]],
    ["x-federation-upstream", {}, "fanout", ["RD406"]],
  ])("an exchange of type %s %j is represented as %s", (type, given, kind, codes) => {
    const result = read({ exchanges: [{ name: "x", vhost: "/", type, arguments: given }] });
    expect(codesOf(result)).toEqual(codes);
    expect(topologyIn(result).exchanges[0]).toMatchObject({ name: "x", kind });
  });

  test("its version decides the rules; the newest rules judge a newer version, with a warning", () => {
    const targetOf = (version: string | null) => auditor.targetOf({ brokerVersion: version, virtualHosts: [] });
    expect(targetOf("3.13.2")).toMatchObject({ ok: true, value: { version: "3.13", patch: 2 }, warnings: [] });
    expect(targetOf("4.0.0-rc.1+12.gabc")).toMatchObject({ ok: true, value: { version: "4.0", patch: 0 } });
    expect(targetOf("5.0.1")).toMatchObject({
      ok: true,
      value: { version: "4.3", patch: null },
      warnings: [{ code: "RD403" }],
    });
    expect(targetOf("3.8.9")).toMatchObject({ ok: false, diagnostics: [{ code: "RD201" }] });
    expect(targetOf("mine")).toMatchObject({ ok: false, diagnostics: [{ code: "RD201" }] });
    expect(targetOf(null)).toMatchObject({ ok: true, value: null });
  });

  test("the path of a place keeps any name a single name", () => {
    expect(placeOf("/", "queues", "a.b")).toBe('vhosts["/"].queues["a.b"]');
  });
});
