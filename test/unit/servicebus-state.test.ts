import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { deploymentsInState, stateTools } from "../../src/cli/audit-source.ts";
import { brokers, compile, type CompiledSystem, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { runCommand } from "../support/run-command.ts";
import { armTemplateOf } from "../support/servicebus/arm-template.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Entities of Service Bus in the states of Terraform and Pulumi.

const azurerm = new URL("../support/servicebus/azurerm-state.json", import.meta.url).pathname;
const namespaceId =
  "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg-shop/providers/Microsoft.ServiceBus/namespaces/shop";
const target = accepted(parseTarget("servicebus@standard"));

function adoptState(text: string, option: string): Adopted {
  const tool = stateTools.find((each) => each.option === option);
  const [found] = accepted(deploymentsInState(text, tool));
  return adopt(found?.deployment);
}

const adopt = (deployment: unknown): Adopted =>
  accepted(adoptDeployment(deployment, target, { name: "shop", queues: [] }));

describe("a state of azurerm", () => {
  const adopted = adoptState(readFileSync(azurerm, "utf8"), "terraformState");

  test("has consumers with their filters, counts, locks and sessions", () => {
    const immediate = { kind: "immediate" };
    expect(adopted.draft).toMatchObject({ options: { lock: "30s" } });
    expect(adopted.draft.system.consumers).toEqual({
      billing: { from: { events: ["order.placed", "order.paid"] }, retry: { attempts: 4, backoff: immediate } },
      payments: { retry: { attempts: 3, backoff: immediate }, order: "per-key" },
      mail: { from: { events: "all" }, retry: { attempts: 6, backoff: immediate } },
    });
    const facts = adopted.unsaid.map(({ place, fact }) => `${place}: ${fact}`).join("\n");
    expect(facts).toMatch(/^payments: its DefaultMessageTimeToLive is 7d/m);
    // The provider cannot touch that rule, so it usually is still there.
    expect(facts).toMatch(/^events: the input shows no rule \$Default of the subscription billing\./m);
    // So messages of no declared key may reach the consumer, and a whole export shows that none do.
    const narrow = ({ judged }: Adopted) => judged?.find(({ name }) => name === "events/billing");
    const reason = expect.stringMatching(/\$Default may let in messages that are not declared/) as unknown;
    expect(narrow(adopted)).toMatchObject({ effect: "otherwise", reason });
    const [state] = accepted(deploymentsInState(readFileSync(azurerm, "utf8"), stateTools[1]));
    const { namespaces = [] } = (state?.deployment ?? {}) as { readonly namespaces?: readonly object[] };
    const whole = namespaces.map((each) => ({ ...each, isWhole: true }));
    expect(narrow(adopt({ namespaces: whole }))).toMatchObject({ effect: "harmless" });
    // A filter of the label and of a property is no routing key.
    expect(adopted.refused.map(({ place }) => place)).toEqual(["events/Subscriptions/reports"]);
  });

  test("has the ids for the import, and the addresses to forget", async () => {
    const { code, out } = await runCommand(["adopt", "--terraform-state", azurerm, "--json"]);
    const { forget } = JSON.parse(out) as { readonly forget: readonly string[] };
    expect([code, forget]).toEqual([
      3,
      [
        // The declaration has other names for these rules, and their code needs that of the subscription.
        "terraform state rm azurerm_servicebus_subscription_rule.paid",
        "terraform state rm azurerm_servicebus_subscription_rule.placed",
        "terraform state rm 'azurerm_servicebus_subscription.received[0]'",
        "terraform state rm azurerm_servicebus_subscription.billing",
        "terraform state rm azurerm_servicebus_topic.events",
        `terraform state rm 'azurerm_servicebus_queue.work["payments"]'`,
        `terraform state rm 'azurerm_servicebus_queue.work["billing"]'`,
      ],
    ]);
    const ids = adopted.imports.entries.map(({ id }) => id?.slice(namespaceId.length + "-prod".length));
    expect(ids).toContain("/topics/events/subscriptions/mail/rules/$Default");
    expect(ids).toContain("/queues/billing");
  });

  test("is audited by the tier of its namespace", async () => {
    const { code, out } = await runCommand(["audit", "--terraform-state", azurerm, "--json"]);
    expect([code, out]).toEqual([0, expect.not.stringContaining("c2VjcmV0")]);
    const [found] = accepted(deploymentsInState(readFileSync(azurerm, "utf8"), stateTools[1]));
    expect(found?.deployment).toMatchObject({ namespaces: [{ name: "shop-prod", tier: "premium" }] });
  });
});

test("a state of Pulumi's classic provider says the same, and gives its resources to azure-native", async ({
  onTestFinished,
}) => {
  const camel = (key: string): string => key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const { resources: all } = JSON.parse(readFileSync(azurerm, "utf8")) as {
    readonly resources: readonly {
      readonly type: string;
      readonly instances: readonly { readonly attributes: Readonly<Record<string, unknown>> }[];
    }[];
  };
  const classic = all.flatMap(({ type: azurermType, instances }) => {
    const [name = "", ...rest] = azurermType.replace("azurerm_servicebus_", "").split("_");
    const kind = camel([name, ...rest].join("_"));
    const type = `azure:servicebus/${kind}:${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
    return instances.map(({ attributes: { id, correlation_filter: blocks, ...attributes } }) => {
      const [filter] = (blocks ?? []) as readonly object[];
      const own = { ...attributes, ...(filter === undefined ? {} : { correlation_filter: filter }) };
      const outputs = Object.fromEntries(Object.entries(own).map(([key, value]) => [camel(key), value]));
      return {
        type,
        urn: `urn:pulumi:prod::shop::${type}::${String(id).split("/").at(-1)}`,
        custom: true,
        id,
        outputs,
      };
    });
  });
  const state = JSON.stringify({ version: 3, deployment: { resources: classic } });
  const [wanted, found] = [adoptState(readFileSync(azurerm, "utf8"), "terraformState"), adoptState(state, "stack")];
  const { draft, judged, imports, unsaid } = wanted;
  expect(found).toMatchObject({ draft, judged, imports, unsaid });
  expect(new Set(found.imports.entries.map(({ type }) => type.split(":")[0]))).toEqual(
    new Set(["redeliver", "azure-native"]),
  );
  const file = join(temporaryFolder("classic-state", onTestFinished), "state.json");
  writeFileSync(file, state);
  const { out } = await runCommand(["adopt", "--stack", file, "--json"]);
  const { forget } = JSON.parse(out) as { readonly forget: readonly string[] };
  expect(forget).toContain("pulumi state delete urn:pulumi:prod::shop::azure:servicebus/queue:Queue::billing");
});

const retry = { attempts: 4, backoff: { kind: "immediate" } };
const shop = shopWith({
  billing: { from: { orders: ["order.*", "refund.#", "order.placed"] }, retry },
  mail: { from: { orders: "all" }, retry, order: "per-key" },
});
const compiled = accepted(compile(checked(shop), target)) as CompiledSystem<"servicebus">;
const [resources = []] = brokers.servicebus.differ.deploymentOf(compiled).namespaces.map((each) => each.resources);
const places = { queue: ["queues"], topic: ["topics"], subscription: ["topics", "subscriptions"] } as const;
const partsOf = (kind: string): readonly string[] =>
  places[kind as keyof typeof places] ?? ["topics", "subscriptions", "rules"];
const idOf = ({ kind, names }: (typeof resources)[number]): string =>
  `${namespaceId}/${partsOf(kind)
    .map((part, at) => `${part}/${names[at]}`)
    .join("/")}`;

describe("Redeliver's own entities come back from a state as from a template", () => {
  const wanted = adopt(accepted(brokers.servicebus.auditor.file.read(armTemplateOf(compiled))));

  const body = (content: object) => ({ value: content, type: ["object", {}] });
  test.for([
    ["azapi 2", body],
    ["azapi 1", (content: object) => JSON.stringify(content)],
    ["azapi 1 with a body of any type", (content: object) => ({ value: JSON.stringify(content), type: "string" })],
  ] as const)("%s", ([, bodyOf]) => {
    const all = resources.map((each, index) => ({
      mode: "managed",
      type: each.names.at(-1) === "$Default" ? "azapi_update_resource" : "azapi_resource",
      name: `r${index}`,
      provider: `provider["registry.example/azure/azapi"]`,
      instances: [
        {
          attributes: {
            id: idOf(each),
            name: each.names.at(-1),
            type: `Microsoft.ServiceBus/namespaces/${partsOf(each.kind).join("/")}@2021-11-01`,
            body: bodyOf({ properties: each.properties }),
          },
        },
      ],
    }));
    const alert = { id: `${namespaceId}-alert`, type: "Microsoft.Insights/metricAlerts@2018-03-01", body: "{" };
    const other = { ...all[0], name: "alert", instances: [{ attributes: alert }] };
    const state = JSON.stringify({ version: 4, resources: [...all, other] });
    const { draft, judged, imports } = adoptState(state, "terraformState");
    expect([draft, judged]).toEqual([wanted.draft, wanted.judged]);
    expect(imports.present.map(({ id }) => id).toSorted()).toEqual(resources.map(idOf).toSorted());
  });
});

test("a subscription without a rule in a stack of Pulumi has the one that Azure makes", () => {
  const of = (kind: string, id: string) => {
    const type = `azure-native:servicebus/v20240101:${kind}`;
    return {
      type,
      urn: `urn:pulumi:prod::shop::${type}::${id}`,
      custom: true,
      id: `${namespaceId}/${id}`,
      outputs: {},
    };
  };
  const stackOf = (...all: readonly object[]): string => JSON.stringify({ version: 3, deployment: { resources: all } });
  const mail = [of("Topic", "topics/events"), of("Subscription", "topics/events/subscriptions/mail")];
  const { draft, imports } = adoptState(stackOf(...mail), "stack");
  expect(draft.system.consumers["mail"]).toMatchObject({ from: { events: "all" } });
  expect(imports.entries.at(-1)).toMatchObject({
    type: "azure-native:servicebus:DefaultRule",
    id: `${namespaceId}/topics/events/subscriptions/mail/rules/$Default`,
  });
  // With another rule nobody knows if that one is still there.
  const label = { filterType: "CorrelationFilter", correlationFilter: { label: "a" } };
  const rule = { ...of("Rule", "topics/events/subscriptions/mail/rules/a"), outputs: label };
  const narrow = adoptState(stackOf(...mail, rule), "stack");
  expect(narrow.draft.system.consumers["mail"]).toMatchObject({ from: { events: ["a"] } });
  expect(narrow.unsaid.map(({ fact }) => fact).join("\n")).toMatch(/Azure makes one that lets in every message/);
});
