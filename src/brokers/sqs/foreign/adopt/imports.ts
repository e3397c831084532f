import type { Imports } from "../../../../adopt/found.ts";
import { type Importable, importsBelow } from "../../../../adopt/imports-below.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";
import { regionOf } from "../../compile/arn.ts";
import type { SqsCompiled } from "../../compile/compile.ts";
import { type AuditedQueue, type Deployment, accountIn, known, regionIn } from "../deployment.ts";
import { foundIn } from "../found.ts";
import { attributeTypes, componentType, mappingType, queueType, subscriptionType } from "../import/resource-types.ts";

/**
 * The entries that put each resource of a compiled system that is in the account below its component. All attributes of
 * a queue can change in place, so a queue that differs is among them. Sources of the ids: the section "Import" of each
 * resource of @pulumi/aws.
 *
 * @param component the name of the component in the program
 */
export function importsOf(deployment: Deployment, { topology }: SqsCompiled, component: string): Imports {
  const found = foundIn(deployment);
  const [topicArn, queueArn] = [(name: string) => found.arn("sns", name), (name: string) => found.arn("sqs", name)];
  const entry = (type: string, logicalName: string, id: unknown): Importable => {
    return { type, logicalName, id: id === undefined ? null : wordOf(id), reason: null, place: logicalName };
  };
  const imports = importsBelow(componentType, component, [
    ...topology.queues.flatMap(({ name }) => {
      const queue = found.queues.get(name);
      const url = queue && urlOf(queue);
      const beside = [
        ["aws:sqs/queuePolicy:QueuePolicy", "Policy"],
        ["aws:sqs/redriveAllowPolicy:RedriveAllowPolicy", "RedriveAllowPolicy"],
      ] as const;
      return [
        entry(queueType, name, url),
        ...beside.map(([type, attribute]) =>
          entry(
            type,
            name,
            [undefined, ""].includes(queue?.attributes[attribute] as string | undefined) ? undefined : url,
          ),
        ),
      ];
    }),
    ...topology.mappings.map(({ queue, functionName }) => {
      const isFor = ({ queueArn: arn, functionName: own }: Deployment["mappings"][number]): boolean =>
        arn === queueArn(queue) && own === (functionName.split(":")[6] ?? functionName.split(":")[0]);
      return entry(mappingType, queue, deployment.mappings.find(isFor)?.attributes["UUID"]);
    }),
    ...topology.subscriptions.map(({ topic, queue }) => {
      const own = (known(deployment.subscriptions) ?? []).find(
        (each) => each.topicArn === topicArn(topic) && each.queueArn === queueArn(queue),
      );
      const id = own?.attributes["SubscriptionArn"];
      const region = regionOf(topic) ?? found.region;
      // The provider asks its own region, unless the id names another one.
      return entry(
        subscriptionType,
        `${topic}/${queue}`,
        id === undefined || region === found.region ? id : `${wordOf(id)}@${region}`,
      );
    }),
  ]);
  // Whoever owns such a resource deletes the attribute of the queue with it.
  const attributes = topology.queues.flatMap(({ name }) => {
    const queue = found.queues.get(name);
    return queue === undefined ? [] : Object.keys(attributeTypes).map((type) => ({ type, id: urlOf(queue) }));
  });
  const present = imports.present.map(({ type, id }) => ({ type, id: id.replace(/@[a-z0-9-]+$/, "") }));
  return { ...imports, present: [...present, ...attributes] };
}

function urlOf({ arn, name }: AuditedQueue): string {
  const domain = arn.startsWith("arn:aws-cn:") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://sqs.${regionIn(arn)}.${domain}/${accountIn(arn)}/${name}`;
}
