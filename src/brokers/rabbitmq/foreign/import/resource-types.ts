/** Resource types of the provider. Source: `__pulumiType` in @pulumi/rabbitmq 3.3.8. */
export const queueType = "rabbitmq:index/queue:Queue";
export const exchangeType = "rabbitmq:index/exchange:Exchange";
export const virtualHostType = "rabbitmq:index/vHost:VHost";
export const bindingType = "rabbitmq:index/binding:Binding";
export const policyType = "rabbitmq:index/policy:Policy";
export const operatorPolicyType = "rabbitmq:index/operatorPolicy:OperatorPolicy";

/** Redeliver's own component. Source: `src/brokers/rabbitmq/make/retry-topology.ts`. */
export const componentType = "redeliver:index:RetryTopology";
