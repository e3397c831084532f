import type { ProgramRun } from "./pulumi.ts";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

type Values = Readonly<Record<string, unknown>>;

/** What a provider tells only when something was created. Source: the attributes that are only computed, in the schemas of the providers. */
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

/** What a provider tells only then where the program does not say it: optional and computed. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  "aws:sqs/queue:Queue": ["policy", "redrivePolicy", "redriveAllowPolicy", "sqsManagedSseEnabled", "region"],
  "aws:sns/topic:Topic": ["policy", "region"],
};

/**
 * A run as the first preview of the stack shows it: nothing is known of what AWS assigns, nor of what the program makes of that.
 */
export function firstPreviewOf(run: ProgramRun): ProgramRun {
  const typeOf = new Map(run.resources.map(({ urn, type }) => [urn, type]));
  const isMadeOf = (urns: readonly string[], value: unknown): boolean =>
    urns.some((urn) => Object.hasOwn(assigned, typeOf.get(urn) ?? "")) &&
    /arn:aws|https:\/\/sqs/.test(JSON.stringify(value));
  const inputsOf = new Map(
    run.resources.map(({ urn, inputs, propertyDependencies }) => [
      urn,
      Object.fromEntries(
        Object.entries(inputs).map(([key, value]) => [
          key,
          isMadeOf(propertyDependencies[key] ?? [], value) ? unknown : value,
        ]),
      ) as Values,
    ]),
  );
  const outputsOf = ({ urn, type }: ProgramRun["resources"][number]): Values => {
    const inputs = inputsOf.get(urn) ?? {};
    const computed = [...(assigned[type] ?? []), ...(leftOut[type] ?? []).filter((key) => !(key in inputs))];
    return {
      ...run.resourceOutputs.get(urn),
      ...inputs,
      ...Object.fromEntries(computed.map((key) => [key, unknown])),
    };
  };
  return {
    ...run,
    resources: run.resources.map((each) => ({ ...each, inputs: inputsOf.get(each.urn) ?? {} })),
    resourceOutputs: new Map(run.resources.map((each) => [each.urn, outputsOf(each)])),
  };
}
