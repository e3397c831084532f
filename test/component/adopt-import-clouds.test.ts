import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compile, type TargetInput } from "../../src/index.ts";
import { checked } from "../support/examples.ts";
import { forAllAsync } from "../support/for-all.ts";
import type { ProgramRun, RegisteredResource } from "../support/pulumi.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { anyServicebusDeclaration, anyServicebusTarget, declaredFor } from "../support/servicebus-declarations.ts";
import { adoptedShapes as servicebusShapes, templateOfShape } from "../support/servicebus/adopted-shapes.ts";
import { armTemplateOf } from "../support/servicebus/arm-template.ts";
import * as azure from "../support/servicebus/read-by-provider.ts";
import { namespaceId, registerServicebus } from "../support/servicebus/register.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";
import { adoptedShapes as sqsShapes, listingOfShape } from "../support/sqs/adopted-shapes.ts";
import { templateOf } from "../support/sqs/cloudformation.ts";
import * as aws from "../support/sqs/read-by-provider.ts";
import { registerSqs } from "../support/sqs/register.ts";

// After an import, the state has the inputs that the provider reads. The next `pulumi up` is "unchanged" exactly if the
// component declares the same ones.

const awsTarget = { broker: "sqs", region: "eu-west-1" } as const;

type Adopted = ReturnType<typeof adoptText>;
type Imported = readonly [declared: RegisteredResource, id: string];

/** The declared resource of each entry. Expects one entry for a resource, below the component. */
function importedIn(run: ProgramRun, { imports }: Adopted): readonly Imported[] {
  const [component, ...entries] = imports.entries;
  const parent = run.resources.find(({ type, custom }) => !custom && type === component?.type);
  expect(component).toMatchObject({ component: true, logicalName: "shop" });
  expect(new Set(entries.map(({ type, logicalName }) => `${type} ${logicalName}`)).size).toBe(entries.length);
  return entries.map(({ type, logicalName, id = "", parent: below }) => {
    const declared = run.resources.find((each) => each.type === type && each.name === logicalName);
    expect(declared?.parent).toBe(parent?.urn);
    expect(below).toBe(component?.name);
    return [declared ?? expect.unreachable(), id] as const;
  });
}

/** @returns false if the system does not compile */
async function expectAwsRead(input: unknown, target: TargetInput<"sqs">): Promise<boolean> {
  const system = checkSystem(input);
  const compiled = system.ok ? compile<"sqs">(system.value, target) : system;
  if (!compiled.ok) return false;
  const answers = aws.answersOf(templateOf(compiled.value));
  const functions = [...answers.values()].flatMap(({ attributes: { FunctionArn } }) =>
    FunctionArn === undefined ? [] : [{ FunctionArn, Timeout: 15 }],
  );
  const listing = [...[...answers.values()].map(({ answer }) => answer), { Subscriptions: [] }, ...functions];
  const adopted = adoptText(JSON.stringify(listing), "sqs@eu-west-1", "shop", "sqs");
  const { draft, unsaid } = adopted;
  const run = await registerSqs(checked(draft.system), { ...awsTarget, ...draft.options });
  const imported = importedIn(run, adopted);
  const { queues, subscriptions, mappings } = compiled.value.topology;
  expect(imported.length).toBe(3 * queues.length + subscriptions.length + mappings.length);
  const shorter = unsaid.filter(({ fact }) => fact.startsWith("MessageRetentionPeriod is 14d"));
  for (const [resource, id] of imported) {
    const { type, inputs } = resource;
    const [read, declared] = aws.comparedByAws(aws.readByAws(type, id, answers), resource);
    // A schedule of 13 days leaves dead letters no time, and the report names the queue.
    const isNamed = shorter.some(({ place }) => place === inputs["name"]);
    expect({ ...read, ...(isNamed && { messageRetentionSeconds: 13 * 86_400 }) }, `${type} ${id}`).toEqual(declared);
  }
  return true;
}

const anyFunction = fc.constantFrom("first", "first", "first:live", "first:7");
const anyKey = fc.constantFrom(undefined, undefined, "alias/shop");

test("the provider of AWS reads each imported resource of random systems as the component declares it", async () => {
  const counts = { compiled: 0, functions: 0, aliases: 0 };
  await forAllAsync(800, [anySqsDeclaration, anySqsTarget, anyFunction, anyKey], async (input, drawn, name, kmsKey) => {
    const lambda = drawn.lambda && { lambda: { "consumer-0": { function: name, timeout: "15s" } } };
    const target = { ...awsTarget, strategy: drawn.strategy, kmsKey, ...lambda };
    if (!(await expectAwsRead(input, target as TargetInput<"sqs">))) return;
    counts.compiled++;
    if (lambda !== undefined) counts[name === "first" ? "functions" : "aliases"]++;
  });
  expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(0);
});

test("the same of a topic in another region", async () => {
  const events = { kind: "topic", name: "arn:aws:sns:us-east-1:123456789012:events", owner: "other" };
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "5s" } };
  const system = { name: "shop", sources: { events }, consumers: { billing: { from: { events: "all" }, retry } } };
  expect(await expectAwsRead(system, awsTarget)).toBe(true);
});

/**
 * The flags of a filter are left out. Azure answers with a level of compatibility, and without the flag that the
 * component has to set. Source: azure-rest-api-specs, `RuleListBySubscription.json`. The next update of a rule writes
 * the same filter.
 */
function withoutFlags(inputs: Readonly<Record<string, unknown>>): object {
  const kept = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const { requiresPreprocessing: _flag, compatibilityLevel: _level, ...rest } = value as Record<string, unknown>;
    return rest;
  };
  return JSON.parse(JSON.stringify(inputs, kept)) as object;
}

/** @returns the imported types; empty if the system does not compile */
async function expectAzureRead(input: unknown, target: TargetInput<"servicebus">): Promise<readonly string[]> {
  const system = checkSystem(input);
  const compiled = system.ok ? compile<"servicebus">(system.value, target) : system;
  if (!compiled.ok) return [];
  const template = armTemplateOf(compiled.value);
  const adopted = adoptText(template, `servicebus@${target.sku}`, "shop", "servicebus");
  const { system: draft, options } = adopted.draft;
  const answers = azure.answersOf(template);
  const run = await registerServicebus(checked(draft), { broker: "servicebus", sku: target.sku, ...options });
  const imported = importedIn(run, adopted);
  const { topics, subscriptions } = compiled.value.topology;
  // Nothing shows whose a topic without a subscription is.
  const unused = topics.filter(({ name }) => subscriptions.every(({ topic }) => topic !== name));
  expect(imported.length).toBe(answers.length - unused.length);
  for (const [{ type, inputs, ignoreChanges = [] }, id] of imported) {
    const read = azure.readByAzureNative(type, id.replace(/^.*\/namespaces\/shop\//, `${namespaceId}/`), answers);
    // An update that keeps an input of these would be refused, so the next one takes them away.
    const refused = azure.refusedInputs(target.sku);
    for (const key of refused) expect(ignoreChanges).not.toContain(key);
    // The engine keeps the state's values of the others. Source: Pulumi, `processIgnoreChanges` in `step_generator.go`.
    const taken = Object.entries(read).filter(([key]) => !refused.includes(key) || key in inputs);
    const kept = taken.filter(([key]) => ignoreChanges.includes(key));
    const declared = { ...inputs, ...Object.fromEntries(kept) };
    expect(withoutFlags(Object.fromEntries(taken)), `${type} ${id}`).toEqual(withoutFlags(declared));
    const durations = Object.values(inputs).filter((value) => /^P[\dT]/.test(String(value)));
    for (const duration of durations) expect(duration).toMatch(azure.durationForm);
  }
  return imported.map(([{ type }]) => type.split(":").at(-1) ?? "");
}

test("azure-native reads each imported resource of random systems as the component declares it", async () => {
  const counts: Record<string, number> = { Queue: 0, Topic: 0, Subscription: 0, Rule: 0, DefaultRule: 0 };
  const any = fc.tuple(anyServicebusDeclaration, anyServicebusTarget);
  await forAllAsync(
    200,
    [fc.oneof(any, declaredFor("immediate"), declaredFor("ttl-tier"))],
    async ([input, target]) => {
      for (const type of await expectAzureRead(input, target)) counts[type] = (counts[type] ?? 0) + 1;
    },
  );
  expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(0);
});

test("the same on the basic tier", async () => {
  const retry = { attempts: 3, backoff: { kind: "immediate" } };
  const system = { name: "shop", consumers: { billing: { retry }, mail: { retry } } };
  expect(await expectAzureRead(system, { broker: "servicebus", sku: "basic" })).toContain("Queue");
});

test("each resource that others made is imported as one that the component declares", async () => {
  for (const name of ["a topic with filters for each queue", "the queue construct of serverless-lift"]) {
    const listing = listingOfShape(sqsShapes()[name] ?? expect.unreachable());
    const adopted = adoptText(JSON.stringify(listing), "sqs@eu-west-1", "shop", "sqs");
    const { system, options } = adopted.draft;
    expect(
      importedIn(await registerSqs(checked(system), { ...awsTarget, ...options }), adopted).length,
    ).toBeGreaterThan(2);
  }
  for (const name of [
    "a topic that forwards to a queue by labels",
    "a topic with a subscription that consumers receive from",
  ]) {
    const template = templateOfShape(servicebusShapes[name] as never);
    const adopted = adoptText(template, "servicebus@standard", "shop", "servicebus");
    const run = await registerServicebus(checked(adopted.draft.system), { broker: "servicebus", sku: "standard" });
    expect(importedIn(run, adopted).length).toBeGreaterThan(2);
  }
});
