import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { runCommand } from "../support/run-command.ts";
import { type ArmEntity, armTemplate } from "../support/servicebus/arm-template.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Templates that people write, or that Bicep makes. An export has neither expressions in settings nor other templates.

const adopt = (text: string): Adopted => adoptText(text, "servicebus@standard", "shop", "servicebus");
const consumersOf = (text: string): Readonly<Record<string, object>> => adopt(text).draft.system.consumers;

type Template = Readonly<Record<string, unknown>>;

/** A template with further resources and members. */
function template(entities: readonly ArmEntity[], more: Template = {}, ...others: readonly object[]): string {
  const { resources } = JSON.parse(armTemplate(entities)) as { readonly resources: readonly object[] };
  return JSON.stringify({ ...more, resources: [...resources, ...others] });
}

const queue = (name: string, rest: Template = {}): object => ({
  type: "Microsoft.ServiceBus/namespaces/queues",
  name: `shop/${name}`,
  ...rest,
});

describe("a subscription without a rule has the one that Azure makes", () => {
  const entities: readonly ArmEntity[] = [
    ["queues", "alpha"],
    ["topics", "events"],
    ["subscriptions", "events/alpha", { forwardTo: "alpha" }],
    ["subscriptions", "events/mail"],
  ];

  test("which lets in everything, and the list says that nothing shows it", () => {
    const adopted = adopt(armTemplate(entities));
    expect(adopted.draft.system.consumers).toMatchObject({
      alpha: { from: { events: "all" } },
      mail: { from: { events: "all" } },
    });
    expect(adopted.refused).toEqual([]);
    expect(factsOf(adopted)).toContainEqual(
      expect.stringMatching(
        /^events\/Subscriptions\/alpha: the input shows no rule of it, so it is taken to have Azure's \$Default/,
      ),
    );
  });

  test("but not if a rule could not be read", () => {
    const rule = ["rules", "events/alpha/[uniqueString('a')]"] as const;
    const text = armTemplate([...entities, rule]).replace("shop/events/alpha/[", "[");
    const adopted = adopt(text);
    expect(adopted.draft.system.consumers).not.toHaveProperty("alpha.from");
    expect(adopted.refused).toMatchObject([{ fact: "it is left out: the input shows no rule of it" }]);
  });
});

describe("a value of a template", () => {
  const parameters = {
    count: { type: "int", defaultValue: 7 },
    isOrdered: { type: "bool", defaultValue: true },
    names: { type: "array", defaultValue: ["alpha", "[variables('second')]"] },
    open: { type: "int" },
    lock: { type: "string" },
    deep: { type: "object", defaultValue: { lock: "PT2M" } },
  };
  const variables = { second: "beta", queues: { gamma: "gamma" } };
  const settingsOf = (properties: Template) => {
    const read = brokers.servicebus.auditor.file.read(
      template([["queues", "work", properties]], { parameters, variables }),
    );
    const [entity] = read.ok ? (read.value.namespaces[0]?.entities ?? []) : [];
    return entity;
  };

  test.for([
    ["maxDeliveryCount", "[parameters('count')]", { maxDeliveryCount: 7 }],
    ["maxDeliveryCount", "[if(not(equals(variables('second'), 'beta')), 2, 3)]", { maxDeliveryCount: 3 }],
    ["maxDeliveryCount", "[parameters('open')]", { maxDeliveryCount: null }],
    ["requiresSession", "[parameters('isOrdered')]", { requiresSession: true }],
    ["requiresSession", "[false()]", { requiresSession: false }],
    ["lockDuration", "[parameters('lock')]", { lock: null }],
    ["lockDuration", "[parameters('deep').lock]", { lock: { durationMs: 120_000 } }],
    ["forwardTo", "[parameters('names')[0]]", { forwardTo: "alpha" }],
    ["forwardTo", "[parameters('names')[1]]", { forwardTo: "beta" }],
    ["forwardTo", "[variables('queues').gamma]", { forwardTo: "gamma" }],
    ["forwardTo", "[variables('queues')['gamma']]", { forwardTo: "gamma" }],
    ["forwardTo", "[variables('queues').constructor]", { forwardTo: null }],
    // The name of the queue stands for the same parameter.
    ["forwardTo", "[parameters('lock')]", { forwardTo: "lock" }],
  ] as const)("%s: %s", ([key, value, expected]) => {
    expect(settingsOf({ [key]: value })).toMatchObject(expected);
  });

  test("may be all properties of a resource", () => {
    const own = { variables: { own: { maxDeliveryCount: "[parameters('count')]" } }, parameters };
    const known = queue("known", { properties: "[variables('own')]" });
    expect(consumersOf(template([["queues", "work"]], own, known))).toMatchObject({
      known: { retry: { attempts: 7 } },
    });
    const unknown = queue("unknown", { properties: "[reference('own')]" });
    const read = brokers.servicebus.auditor.file.read(template([["queues", "work"]], own, unknown));
    expect(read).toMatchObject({ warnings: [{ code: "RD409", message: expect.stringMatching(/shop\/unknown$/) }] });
  });

  test.for([{ sqlFilter: "[reference('x')]" }, { filterType: "[reference('x')]" }])(
    "is no filter of everything: %o",
    (rule) => {
      const text = armTemplate([
        ["queues", "mail"],
        ["topics", "events"],
        ["subscriptions", "events/mail", { forwardTo: "mail" }],
        ["rules", "events/mail/own", rule],
      ]);
      expect(consumersOf(text)["mail"]).not.toHaveProperty("from");
    },
  );

  test("decides if a resource is deployed", () => {
    const never = [queue("never", { condition: false }), queue("off", { condition: "[not(parameters('isOrdered'))]" })];
    expect(Object.keys(consumersOf(template([["queues", "work"]], { parameters }, ...never)))).toEqual(["work"]);
  });
});

describe("the resources of a deployment in a template", () => {
  const inner = {
    parameters: { q: { type: "string" }, count: { type: "int" } },
    resources: [
      {
        ...queue(""),
        name: "[format('shop/{0}', parameters('q'))]",
        properties: { maxDeliveryCount: "[parameters('count')]" },
      },
    ],
  };
  const deployment = (properties: Template): object => ({
    type: "Microsoft.Resources/deployments",
    name: "mod",
    properties,
  });
  const outer = { parameters: { q: { defaultValue: "outer" }, count: { defaultValue: 4 } } };

  test("take the parameters that it passes", () => {
    const passed = { q: { value: "module-q" }, count: { value: "[parameters('count')]" } };
    const text = template(
      [["queues", "work"]],
      outer,
      deployment({ expressionEvaluationOptions: { scope: "inner" }, parameters: passed, template: inner }),
    );
    expect(consumersOf(text)).toMatchObject({ work: {}, "module-q": { retry: { attempts: 4 } } });
  });

  test("take those of the outer template, unless it says otherwise", () => {
    const text = template([["queues", "work"]], outer, deployment({ template: inner }));
    expect(consumersOf(text)).toMatchObject({ outer: { retry: { attempts: 4 } } });
  });

  test("are not known if its template lies elsewhere, and the adoption is incomplete", async () => {
    const file = join(temporaryFolder("template"), "template.json");
    writeFileSync(file, template([["queues", "work"]], {}, deployment({ templateLink: { uri: "other.json" } })));
    const { code, error } = await runCommand(["adopt", "--servicebus", file]);
    expect([code, error]).toEqual([
      3,
      expect.stringMatching(/RD409.*: left out, because their templates are not in this one: mod/),
    ]);
  });
});

test("since version 2.0 of the language, resources have names in the template", () => {
  const type = "Microsoft.ServiceBus/namespaces";
  const text = JSON.stringify({
    languageVersion: "2.0",
    resources: {
      ns: { type, name: "shop", sku: { name: "Standard" } },
      mainQueue: { type: `${type}/queues`, name: "shop/main", properties: { maxDeliveryCount: 3 } },
      old: { existing: true, type: `${type}/queues`, name: "shop/old" },
    },
  });
  expect(Object.keys(consumersOf(text))).toEqual(["main"]);
});

test("a variable that names the one before twice takes no longer for it, and one that names itself is unknown", () => {
  const before = (index: number): string => `variables('v').x${index - 1}`;
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => index + 1).map((index) => [
      `x${index}`,
      `[if(equals(${before(index)}, ${before(index)}), 'main', 'other')]`,
    ]),
  );
  const variables = { v: { x0: "a", ...chain }, w: { x: "[concat(variables('w').x, variables('w').x)]" } };
  const type = "Microsoft.ServiceBus/namespaces/queues";
  const named = (name: string): object => ({ type, name: `[concat('shop/', ${name})]`, properties: {} });
  const text = JSON.stringify({ variables, resources: [named("variables('v').x30"), named("variables('w').x")] });
  expect(Object.keys(consumersOf(text))).toEqual(["main"]);
});
