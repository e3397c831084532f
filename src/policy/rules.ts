import { deadLetterAlarm } from "./declaration/dead-letter-alarm.ts";
import { deadLetterRetention } from "./declaration/dead-letter-retention.ts";
import { deadLetterTimeLimit } from "./declaration/dead-letter-time-limit.ts";
import { declarationReadable } from "./declaration/declaration-readable.ts";
import { firstRetryDelay } from "./declaration/first-retry-delay.ts";
import { permanentErrorsListed } from "./declaration/permanent-errors-listed.ts";
import { promisesKeptByBroker } from "./declaration/promises-kept-by-broker.ts";
import { retryAttemptsLimit } from "./declaration/retry-attempts-limit.ts";
import { retryJitter } from "./declaration/retry-jitter.ts";
import { topologyOwner } from "./declaration/topology-owner.ts";
import type { Rule } from "./rule.ts";

/** Every rule there is, in the order in which pages and reports name them. */
export const rules: readonly Rule[] = Object.freeze([
  declarationReadable,
  retryAttemptsLimit,
  firstRetryDelay,
  retryJitter,
  deadLetterTimeLimit,
  deadLetterRetention,
  deadLetterAlarm,
  permanentErrorsListed,
  promisesKeptByBroker,
  topologyOwner,
]);
