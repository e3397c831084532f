import { brokers, type CompiledSystem } from "../../../src/index.ts";
import { queueArn, queueUrl, topicArn } from "./assigned-by-aws.ts";

const region = "eu-west-1";

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Entry }>>;
}
export type Entry = Readonly<Record<string, unknown>>;

/** The CloudFormation template of a topology, with each reference replaced by its value. */
export function templateOf(compiled: CompiledSystem<"sqs">): readonly (readonly [string, Entry])[] {
  const exported = brokers.sqs.exportFormats["aws-json"]?.(compiled, null);
  const { Resources } = exported as Template;
  const nameOf = (id: string): string => {
    const properties = Resources[id]?.Properties ?? {};
    return String(properties["QueueName"] ?? properties["TopicName"]);
  };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entry = value as Entry;
    if ("Ref" in entry) {
      const id = String(entry["Ref"]);
      return id.startsWith("Topic") ? topicArn(region, nameOf(id)) : queueUrl(region, nameOf(id));
    }
    if ("Fn::GetAtt" in entry) {
      const [id = "", attribute] = entry["Fn::GetAtt"] as string[];
      return attribute === "QueueName" ? nameOf(id) : queueArn(region, nameOf(id));
    }
    if ("Fn::Sub" in entry) return queueArn(region, String(entry["Fn::Sub"]).split(":").at(-1) ?? "");
    return Object.fromEntries(Object.entries(entry).map(([key, each]) => [key, resolve(each)]));
  };
  return Object.values(Resources).map(({ Type, Properties }) => [Type, resolve(Properties) as Entry]);
}
