import { oneConsumer } from "./examples.ts";
import type { Row } from "./natural-mistakes.ts";

const steady = { kind: "constant", delay: "30s" };
const retry = (fields: object): unknown => oneConsumer({ retry: { attempts: 3, backoff: steady, ...fields } });
const backoff = (fields: object): unknown => retry({ backoff: fields });
const at = "consumers.billing";
const inRetry = `${at}.retry`;
const inBackoff = `${inRetry}.backoff`;

/** Numbers that do not fit together. */
const unfit: readonly Row[] = [
  [
    "no delay",
    backoff({ kind: "constant", delay: "0s" }),
    "RD105",
    `${inBackoff}.delay`,
    'choose at least 1ms, or backoff: { kind: "immediate" } for no delay',
  ],
  [
    "a max below the first delay",
    backoff({ kind: "linear", first: "10s", max: "1s" }),
    "RD106",
    `${inBackoff}.max`,
    'set max to 10s or more, or write backoff: { kind: "constant", delay: "1s" }',
  ],
  [
    "eleven years",
    retry({ attempts: 1_000, backoff: { kind: "constant", delay: "4d" } }),
    "RD119",
    inBackoff,
    "use fewer attempts",
  ],
  [
    "weeks with jitter",
    backoff({ kind: "constant", delay: "10d", jitter: "50%" }),
    "RD119",
    inBackoff,
    'use fewer attempts, or giveUpAfter: "30d" if you mean it',
  ],
  [
    "a limit below the first delay",
    retry({ giveUpAfter: "5s" }),
    "RD120",
    `${inRetry}.giveUpAfter`,
    "set attempts to 1, or giveUpAfter to 1m or more",
  ],
  [
    "a limit below the second step",
    retry({ backoff: { kind: "steps", delays: ["1s", "1m"] }, giveUpAfter: "30s" }),
    "RD120",
    `${inRetry}.giveUpAfter`,
    "set attempts to 2 and leave out the later delays, or giveUpAfter to 61s or more",
  ],
];

/** Mistakes about numbers that do not fit together. */
export const misplacedAndMisnamed: readonly Row[] = unfit;
