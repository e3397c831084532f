/**
 * The property that Azure adds to a resource: the name that others refer to it by. Other types of resources get none.
 */
export function assignedByAzure(type: string, inputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nameOf: Readonly<Record<string, string>> = {
    "azure-native:servicebus:Namespace": "namespaceName",
    "azure-native:servicebus:Queue": "queueName",
    "azure-native:servicebus:Topic": "topicName",
    "azure-native:servicebus:Subscription": "subscriptionName",
  };
  const key = nameOf[type];
  return key === undefined ? {} : { name: inputs[key] };
}
