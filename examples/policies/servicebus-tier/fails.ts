import { Namespace } from "@pulumi/azure-native/servicebus/namespace.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";

// The basic tier has no topics.
const namespace = new Namespace(
  "shop",
  {
    resourceGroupName: "shop",
    namespaceName: "shop",
    sku: { name: "Basic", tier: "Basic" },
  },
  { protect: true },
);
const shop = { resourceGroupName: "shop", namespaceName: namespace.name };
const orders = new Topic("orders", { ...shop, topicName: "orders" }, { protect: true });
new Subscription("billing", { ...shop, topicName: orders.name, subscriptionName: "billing" }, { protect: true });
