import { type CatalogueEntry, warning } from "../../../diagnostics/catalogue-entry.ts";

/** RD403 to RD406: exports and brokers that cannot be read completely. */
export const readProblems = {
  RD403: warning(
    "The broker is newer than the rules",
    "The export comes from a version of RabbitMQ that Redeliver does not know yet. The audit uses the rules of the newest version it knows. Between minor releases RabbitMQ has changed which deliveries count as failed. Use a newer Redeliver if there is one, and compare the findings with the release notes.",
  ),
  RD404: warning(
    "The file names it more than once",
    "The file has the same queue or exchange twice, perhaps with different arguments. A broker that imports the file keeps the first entry and skips the others without an error, and the audit does the same. Remove the entries without effect: a change to one of them does nothing.",
  ),
  RD405: warning(
    "Bindings to resources that are not in the export",
    "RabbitMQ leaves exclusive queues and internal exchanges out of its exports, but keeps their bindings. The audit skips bindings to such a queue. It guesses the kind of such an exchange by its bindings. Read the broker with --url to get everything.",
  ),
  RD406: warning(
    "No rules for this kind",
    "An exchange or queue has a type that a plugin adds, or a policy applies to an unknown kind of queue. The audit assumes that such an exchange routes a message by all of its bindings, and that such a queue is classic. It skips such a policy. Other findings hold. Check a finding that involves one of these by hand.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
