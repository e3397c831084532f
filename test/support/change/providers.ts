import { isDeepStrictEqual } from "node:util";

import type { RegisteredResource } from "../pulumi.ts";
import type { Difference, Provider } from "./engine-model.ts";

/**
 * The inputs that force a replacement, by type. The provider updates every other type in place. Null stands for all
 * inputs.
 */
const replaced: Readonly<Record<string, readonly string[] | null>> = {
  // Source: ForceNew in terraform-provider-rabbitmq. Exchanges: since "Set ForceNew on all attributes"; before, an
  // update fails.
  "rabbitmq:index/exchange:Exchange": null,
  "rabbitmq:index/queue:Queue": null,
  "rabbitmq:index/binding:Binding": null,
  "rabbitmq:index/policy:Policy": ["name", "vhost"],
  // Source: ForceNew in terraform-provider-aws, files queue.go, topic.go, topic_subscription.go,
  // event_source_mapping.go.
  "aws:sqs/queue:Queue": ["name", "fifoQueue", "region"],
  "aws:sqs/queuePolicy:QueuePolicy": ["queueUrl", "region"],
  "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": ["queueUrl", "region"],
  "aws:sns/topic:Topic": ["name", "fifoTopic", "region"],
  "aws:sns/topicSubscription:TopicSubscription": ["topic", "protocol", "endpoint", "region"],
  "aws:cloudwatch/metricAlarm:MetricAlarm": ["name", "region"],
  "aws:lambda/eventSourceMapping:EventSourceMapping": ["eventSourceArn", "region"],
  // Source: "createOnly" properties in the API specification of Microsoft.ServiceBus, and the page "Message sessions".
  "azure-native:servicebus:Queue": ["queueName", "namespaceName", "requiresSession", "requiresDuplicateDetection"],
  "azure-native:servicebus:Topic": ["topicName", "namespaceName", "requiresDuplicateDetection"],
  "azure-native:servicebus:Subscription": ["subscriptionName", "topicName", "namespaceName", "requiresSession"],
  "azure-native:servicebus:Rule": ["ruleName", "subscriptionName", "topicName", "namespaceName"],
  "azure-native:servicebus:DefaultRule": ["subscriptionName", "topicName", "namespaceName"],
  "azure-native:monitor:MetricAlert": ["ruleName"],
};

/**
 * The reactions of the three providers to changed inputs. None of them names resources by itself here, so all would
 * delete first.
 */
export const provider: Provider = {
  diff: (old: RegisteredResource, now: RegisteredResource): Difference => {
    const names = Object.keys({ ...old.inputs, ...now.inputs });
    const changed = names.filter((name) => !isDeepStrictEqual(old.inputs[name], now.inputs[name]));
    if (changed.length === 0) return "same";
    const forcing = replaced[now.type];
    if (forcing === undefined) throw new Error(`nobody has said what replaces a ${now.type}`);
    return forcing === null || changed.some((name) => forcing.includes(name)) ? "replace" : "update";
  },
  deletesFirst: () => true,
};
