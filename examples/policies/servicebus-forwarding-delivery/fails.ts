import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Five hops: each message is dead in the fifth queue.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const archive = new Queue("archive", { ...shop, queueName: "archive" });
const ledger = new Queue("ledger", { ...shop, queueName: "ledger", forwardTo: archive.name });
const invoices = new Queue("invoices", { ...shop, queueName: "invoices", forwardTo: ledger.name });
const payments = new Queue("payments", { ...shop, queueName: "payments", forwardTo: invoices.name });
const billing = new Queue("billing", { ...shop, queueName: "billing", forwardTo: payments.name });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: billing.name });
