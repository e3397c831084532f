import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Five hops: each message dies in the fifth queue.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const archive = new Queue("archive", { ...shop, queueName: "archive" }, { protect: true });
const ledger = new Queue("ledger", { ...shop, queueName: "ledger", forwardTo: archive.name }, { protect: true });
const invoices = new Queue("invoices", { ...shop, queueName: "invoices", forwardTo: ledger.name }, { protect: true });
const payments = new Queue("payments", { ...shop, queueName: "payments", forwardTo: invoices.name }, { protect: true });
const billing = new Queue("billing", { ...shop, queueName: "billing", forwardTo: payments.name }, { protect: true });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: billing.name }, { protect: true });
