import { type CatalogueEntry, error } from "../diagnostics/catalogue-entry.ts";

/** Exports and brokers that cannot be read: one code on all brokers, with the tools of each. */
export const readProblems = {
  RD402: error(
    "Malformed entry in an export",
    "An entry of the export is not in the form that RabbitMQ, AWS or Pulumi write. For example, a queue has no name, a binding has no end, or a redrive policy is not JSON. Without the entry the topology would be another one, so Redeliver does not skip it. Export again. In a file that a person or a program wrote, correct the entry that the path names.",
  ),
  RD407: error(
    "The broker cannot be read",
    "Nothing answers at the URL, or another program answers. The name may be unknown, the port closed, or the certificate not trusted. Redeliver read nothing. It reads RabbitMQ through the management API, a plugin on port 15672 by default, and AWS through the SDK, whose packages you install.",
  ),
  RD408: error(
    "The broker denies access",
    "The broker does not let this user in, or does not show the virtual host. On RabbitMQ the user needs one of the tags management, policymaker, monitoring and administrator. Without administrator it also needs a permission in each virtual host, even one that allows nothing. On AWS it needs the actions in the note, which only read.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
