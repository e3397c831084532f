import { DefaultRule } from "@pulumi/azure-native/servicebus/defaultRule.js";
import { Rule } from "@pulumi/azure-native/servicebus/rule.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";

// `$Default` lets in messages that the other rule would keep out.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const orders = new Topic("orders", { ...shop, topicName: "orders" }, { protect: true });
const billing = new Subscription(
  "billing",
  { ...shop, topicName: orders.name, subscriptionName: "billing" },
  { protect: true },
);
const from = { ...shop, topicName: orders.name, subscriptionName: billing.name };
new DefaultRule("all", { ...from, filterType: "SqlFilter", sqlFilter: { sqlExpression: "1=1" } });
new Rule("placed", {
  ...from,
  ruleName: "placed",
  filterType: "CorrelationFilter",
  correlationFilter: { label: "order.placed" },
});
