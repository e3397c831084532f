import type { DeadQueueExample, ExamplePair } from "../example.ts";

const look = (...lines: readonly string[]): DeadQueueExample => ({
  kind: "dead-queue",
  text: [...lines, ""].join("\n"),
});

const padded = "({ body }) => ({ body: { zip: body.zip.padStart(5) } })";

/** Looks at a dead queue, with and without the problem. */
const headed =
  '{"redeliver":"dead-letters","version":1,"broker":"rabbitmq","queue":"shop.billing.dead","consumer":"billing"}';
const letter =
  '{"position":1,"exchange":"","routingKey":"shop.billing","redelivered":true,"properties":{},"headers":{},"body":"e30="}';

export const operateExamples = {
  RD811: {
    fires: look("version: 4.3.6", "planned: 312", "confirm: 300"),
    quiet: look("version: 4.3.6", "planned: 312", "confirm: 312"),
  },
  RD812: {
    fires: look("version: 4.3.6", "planned: 312", "consumers: 1"),
    quiet: look("version: 4.3.6", "planned: 312", "consumers: 0"),
  },
  RD813: {
    fires: look("export: |", `  ${headed}`, `  ${letter}`),
    quiet: look("export: |", `  ${headed}`, `  ${letter}`, '  {"end":true,"letters":1}'),
  },
  RD814: {
    fires: look(`edit: "${padded}"`, "body: { zip: 1234 }"),
    quiet: look(`edit: "${padded}"`, 'body: { zip: "1234" }'),
  },
  RD816: {
    fires: look("journal: ''", "redrives: 2"),
    quiet: look("journal: ''", "redrives: 1"),
  },
  RD817: {
    fires: look("journal: a text that somebody wrote"),
    quiet: look("journal: ''"),
  },
  RD841: {
    fires: look(
      "version: 4.0.5",
      "queue: { name: shop.billing.dead, type: quorum, arguments: {}, effective_policy_definition: {} }",
    ),
    quiet: look(
      "version: 4.0.5",
      "queue:",
      "  { name: shop.billing.dead, type: quorum, arguments: { x-delivery-limit: -1 }, effective_policy_definition: {} }",
    ),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
