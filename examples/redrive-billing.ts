import type { RabbitmqConnection, Running } from "redeliver/consume";
import { consume } from "redeliver/consume";
import {
  type DeadQueueInput,
  type RedriveEnd,
  groupLetters,
  openDeadQueue,
  openJournal,
  planLetters,
  redriveLetters,
  tellRedrives,
} from "redeliver/operate";
import { shop } from "./consume-billing.ts";

/** Sends the letters of the most frequent cause again. */
export async function redriveBilling(
  connection: NonNullable<DeadQueueInput["connection"]>,
  journalFile: string,
): Promise<RedriveEnd | null> {
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  const dead = await openDeadQueue({ system: shop, consumer: "billing", target, connection });
  const journal = await openJournal(journalFile);
  try {
    const { groups } = await groupLetters(dead, {});
    const [largest] = groups;
    if (largest === undefined) return null;
    const wish = { filter: { group: largest.id }, perSecond: 50, waitMs: 60_000 };
    const plan = await planLetters(dead, wish);
    console.log(
      `${plan.letters} letters died of ${largest.error ?? largest.reason}, in steps of ${plan.steps.join(", ")}`,
    );
    return await redriveLetters({ dead, journal }, { ...wish, confirm: plan.letters, why: "release 1.7 mends it" });
  } finally {
    await dead.letters.close();
    await journal.close();
  }
}

/** Handles orders, and lets redrives know what became of their letters. */
export async function billingWithWords(connection: RabbitmqConnection, journalUrl: string): Promise<Running> {
  const log = tellRedrives(await openJournal(journalUrl));
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  return consume(shop, "billing", { target, connection, log }, charge);
}

function charge({ body }: { readonly body: unknown }): void {
  console.log(`charges ${JSON.stringify(body)}`);
}
