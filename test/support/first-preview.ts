import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { ProgramRun, RegisteredResource } from "./pulumi.ts";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

type Values = Readonly<Record<string, unknown>>;

/**
 * Properties that a provider knows only after the creation. Source: the attributes that are only computed, in the
 * schemas of the providers.
 */
const assigned: Readonly<Record<string, readonly string[]>> = {
  "aws:sqs/queue:Queue": ["arn", "url", "id", "kmsDataKeyReusePeriodSeconds", "tagsAll"],
  "aws:sns/topic:Topic": ["arn", "id", "owner"],
  "aws:sns/topicSubscription:TopicSubscription": ["arn", "id", "ownerId", "pendingConfirmation"],
  "aws:lambda/function:Function": ["arn", "id", "invokeArn", "version"],
  "aws:lambda/eventSourceMapping:EventSourceMapping": ["id", "functionArn", "uuid", "state"],
  "rabbitmq:index/queue:Queue": ["id"],
  "rabbitmq:index/exchange:Exchange": ["id"],
  "rabbitmq:index/binding:Binding": ["id", "propertiesKey"],
  "rabbitmq:index/policy:Policy": ["id"],
};

/** Properties that a provider knows only then, unless the program sets them: optional and computed. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  "aws:sqs/queue:Queue": ["policy", "redrivePolicy", "redriveAllowPolicy", "sqsManagedSseEnabled", "region"],
  "aws:sns/topic:Topic": ["policy", "region"],
};

const require = createRequire(import.meta.url);
const isOfAzure = (type: string): boolean => type.startsWith("azure-native:");

/** Azure's answer about a resource, by the types of its SDK. */
function answeredByAzure(type: string): readonly string[] {
  const [, module = "", name = ""] = type.split(":");
  const file = `${module}/${name[0]?.toLowerCase()}${name.slice(1)}.d.ts`;
  const types = readFileSync(
    require.resolve("@pulumi/azure-native/package.json").replace("package.json", file),
    "utf8",
  );
  return [...types.matchAll(/^ {4}readonly (\w+): pulumi\.Output</gm)].map(([, property = ""]) => property);
}

/**
 * The outputs that @pulumi/azure-native projects: Azure's future answer, known as far as the program gives it. Parts of
 * the request's path, such as names, are no answer. Source: `PreviewOutputs` in `provider/pkg/convert` of
 * pulumi-azure-native.
 */
export function projectedByAzure(type: string, inputs: Values): Values {
  return Object.fromEntries(["id", ...answeredByAzure(type)].map((key) => [key, inputs[key] ?? unknown]));
}

/**
 * A run as in the stack's first preview. The values that AWS and Azure assign are unknown, and so are the program's
 * values that depend on them.
 */
export function firstPreviewOf(run: ProgramRun): ProgramRun {
  const typeOf = new Map(run.resources.map(({ urn, type }) => [urn, type]));
  const isMadeOf = (urns: readonly string[], value: unknown): boolean =>
    urns.some((urn) => isOfAzure(typeOf.get(urn) ?? "")) ||
    (urns.some((urn) => Object.hasOwn(assigned, typeOf.get(urn) ?? "")) &&
      /arn:aws|https:\/\/sqs/.test(JSON.stringify(value)));
  const knownOf = ({ inputs, propertyDependencies }: RegisteredResource): Values => {
    const isKnown = ([key, value]: [string, unknown]) => !isMadeOf(propertyDependencies[key] ?? [], value);
    return Object.fromEntries(Object.entries(inputs).map((entry) => [entry[0], isKnown(entry) ? entry[1] : unknown]));
  };
  const inputsOf = new Map(run.resources.map((each) => [each.urn, knownOf(each)]));
  const outputsOf = ({ urn, type }: ProgramRun["resources"][number]): Values => {
    const inputs = inputsOf.get(urn) ?? {};
    if (isOfAzure(type)) return projectedByAzure(type, inputs);
    const computed = [...(assigned[type] ?? []), ...(leftOut[type] ?? []).filter((key) => !(key in inputs))];
    return { ...run.resourceOutputs.get(urn), ...inputs, ...Object.fromEntries(computed.map((key) => [key, unknown])) };
  };
  return {
    ...run,
    resources: run.resources.map((each) => ({ ...each, inputs: inputsOf.get(each.urn) ?? {} })),
    resourceOutputs: new Map(run.resources.map((each) => [each.urn, outputsOf(each)])),
  };
}
