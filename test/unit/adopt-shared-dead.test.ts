import { describe, expect, test } from "vitest";

import { editFor, movedDraft } from "../../src/adopt/moved-draft.ts";
import { compileAndProve } from "../../src/compile/compile.ts";
import { checked } from "../support/examples.ts";
import { deadThrough, deadTo, exported, queue } from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

const quorum = { "x-queue-type": "quorum" };
const classic = { "x-queue-type": "classic" };

describe("beside consumers that share a dead queue", () => {
  const sharing = (...more: readonly ReturnType<typeof queue>[]) =>
    adoptText(
      exported({
        exchanges: [],
        queues: ["a", "b"].map((name) => queue(name, quorum)).concat(queue("letters", quorum), more),
        bindings: [],
        policies: [
          {
            vhost: "/",
            name: "dead",
            pattern: "^[ab]$",
            "apply-to": "queues",
            priority: 1,
            definition: { "dead-letter-exchange": "", "dead-letter-routing-key": "letters", "delivery-limit": 4 },
          },
        ],
      }),
    );
  const deadLettersOf = ({ draft }: ReturnType<typeof sharing>) =>
    Object.values(draft.system.consumers).map((each) => (each as { deadLetter?: object }).deadLetter);
  const policy = { queueSettings: "policy" };
  test("one that has none gets its own", () => {
    const adopted = sharing(queue("c", quorum), queue("d", quorum), queue("d.dead", { "x-max-length": 1 }));
    expect(adopted.draft.options).toEqual({ deadQueue: "shared" });
    expect(deadLettersOf(adopted)).toEqual([policy, policy, { queue: "c.dead" }, expect.anything()]);
    const dead = new Set(adopted.proved.compiled.contracts.map(({ deadQueue }) => deadQueue));
    expect(dead).toEqual(new Set(["letters", "c.dead", "d.dead.2"]));
  });
  test("one that moves keeps apart from them", () => {
    const adopted = sharing(
      queue("mail", { ...classic, ...deadTo("mail.dlq") }),
      queue("mail.dlq", classic),
      queue("plain", classic),
    );
    const { imports, draft } = adopted;
    expect(imports.moves.map((move) => [move.next, editFor(draft, move)])).toEqual([
      ["mail.2", expect.stringContaining('write "queue: mail.2.dead" into its deadLetter')],
      ["plain.2", expect.stringContaining('write "queue: plain.2.dead" into its deadLetter')],
    ]);
    // Letters of others would come to the code of this one.
    expect(imports.moves.map(({ letters }) => letters?.dead)).toEqual(["mail.dlq", undefined]);
    const moved = compileAndProve<"rabbitmq">(checked(movedDraft(draft, imports.moves).system), {
      broker: "rabbitmq",
      version: "4.3",
      deadQueue: "shared",
    });
    expect(moved).toMatchObject({ ok: true });
    expect(moved.ok && moved.value.compiled.contracts.map(({ deadQueue }) => deadQueue)).toEqual([
      "letters",
      "letters",
      "mail.2.dead",
      "plain.2.dead",
    ]);
  });
});

describe("a shared dead queue with arguments", () => {
  const [limit, refusing] = [{ "x-delivery-limit": -1 }, { "x-overflow": "reject-publish" }];
  const asCompiled = { ...quorum, ...refusing, ...limit };
  const adoptedWith = (dead: Readonly<Record<string, unknown>>, target?: string) =>
    adoptText(
      exported({
        exchanges: [],
        queues: [
          ...["a", "b"].map((name) => queue(name, { ...quorum, ...deadThrough("", "letters") })),
          queue("letters", dead),
        ],
        bindings: [],
        policies: [],
      }),
      target,
    );
  test.for([
    ["rabbitmq@4.3", asCompiled],
    ["rabbitmq@3.13", { ...quorum, ...refusing }],
  ] as const)("of a compiled one is kept for both on %s", ([target, dead]) => {
    const { draft, proved, imports } = adoptedWith(dead, target);
    expect([draft.options, draft.warnings]).toEqual([{ deadQueue: "shared" }, []]);
    expect(proved.compiled.contracts.map(({ deadQueue }) => deadQueue)).toEqual(["letters", "letters"]);
    expect(JSON.stringify(draft.system)).not.toContain("queueSettings");
    expect(imports.present.map(({ id }) => id)).toContain("letters@/");
  });
  test.for([
    { ...asCompiled, "x-max-length": 9 },
    { ...asCompiled, "x-delivery-limit": 5 },
    { ...quorum, ...refusing },
  ])("of another kind is left: %j", (dead) => {
    const { draft } = adoptedWith(dead);
    expect([draft.options, draft.warnings.map(({ code }) => code)]).toEqual([{}, ["RD333"]]);
  });
});
