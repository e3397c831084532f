import type { RequestBounds } from "../../foreign/request-budget.ts";
import type { Checked } from "../../diagnostics/diagnostic.ts";
import type { SdkReader } from "../broker.ts";
import type { Migrating, Watched } from "../migrating.ts";
import { auditor } from "./auditor.ts";
import type { SqsCompiled } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";

/** The attributes with counts, each with the word for a message in that state. */
const states = {
  ApproximateNumberOfMessages: "visible",
  ApproximateNumberOfMessagesNotVisible: "in flight",
  ApproximateNumberOfMessagesDelayed: "delayed",
} as const;

/**
 * Watches a migration that a deployment carries out. The counts may take a minute to show a change, and nothing lists
 * consumers. Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
 */
export const migrating: Migrating<SqsCompiled, Deployment, SdkReader<readonly Watched[]>> = Object.freeze({
  // A queue that stays is no difference.
  deployedAfter: (_: SqsCompiled, after: SqsCompiled) => after,
  keepsSettings: false,
  reader: {
    ...auditor.live,
    read: async (region: string, endpoint: string | undefined, bounds: Partial<RequestBounds>) => {
      const found = await auditor.live.read(region, endpoint, bounds);
      return found.ok ? { ...found, value: watchedIn(found.value) } : (found as Checked<never>);
    },
  },
  countsLagMs: 60_000,
});

function watchedIn({ regions }: Deployment): readonly Watched[] {
  return regions.flatMap(({ queues }) =>
    queues.map(({ name, attributes }) => {
      const counts = Object.entries(states).flatMap(([attribute, state]) => {
        const count = attributes[attribute];
        return count === undefined ? [] : [[state, Number(count)] as const];
      });
      return {
        kind: "queue",
        name,
        messages: Object.fromEntries(counts),
        moved: JSON.stringify(counts),
        connections: [],
        isTaken: Number(attributes["ApproximateNumberOfMessagesNotVisible"] ?? 0) > 0,
      };
    }),
  );
}
