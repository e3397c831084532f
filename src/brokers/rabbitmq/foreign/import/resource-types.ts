import type { BridgedType } from "../../../../foreign/terraform-state.ts";

/** Resource types of the provider. Source: `__pulumiType` in @pulumi/rabbitmq 3.3.8. */
export const queueType = "rabbitmq:index/queue:Queue";
export const exchangeType = "rabbitmq:index/exchange:Exchange";
export const virtualHostType = "rabbitmq:index/vHost:VHost";
export const bindingType = "rabbitmq:index/binding:Binding";
export const policyType = "rabbitmq:index/policy:Policy";
export const operatorPolicyType = "rabbitmq:index/operatorPolicy:OperatorPolicy";

/** Source: `resourcesMap` of the provider for Terraform, and its schemas. */
export const terraformTypes: Readonly<Record<string, BridgedType>> = Object.freeze({
  rabbitmq_queue: { type: queueType, singleBlocks: ["settings"] },
  rabbitmq_exchange: { type: exchangeType, singleBlocks: ["settings"] },
  rabbitmq_vhost: { type: virtualHostType },
  rabbitmq_binding: { type: bindingType },
  rabbitmq_policy: { type: policyType, singleBlocks: ["policy"] },
  rabbitmq_operator_policy: { type: operatorPolicyType, singleBlocks: ["policy"] },
});

/** Redeliver's own component. Source: `src/brokers/rabbitmq/make/retry-topology.ts`. */
export const componentType = "redeliver:index:RetryTopology";
