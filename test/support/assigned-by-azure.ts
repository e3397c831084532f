/** What Azure adds to what a program asks for: the name by which others refer to it. Nothing for the resources of others. */
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
