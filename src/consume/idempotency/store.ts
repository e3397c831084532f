/**
 * Remembers which messages a consumer has handled, and which one it is handling. A store is shared by all instances of the consumer, and each
 * call is one atomic step there.
 */
export interface IdempotencyStore {
  /**
   * Claims a key for one run of the handler. A claim that is neither finished nor released ends by itself, so that a crash leaves no key
   * behind that nobody may touch.
   *
   * @param token of this run; a claim can be released with it alone
   * @returns whether the claim was made, or why not: another run has one, or one has ended well
   */
  readonly begin: (key: string, token: string, expiresAfterMs: number) => Promise<"begun" | "running" | "done">;
  /**
   * Remembers that a run has ended well, whoever has the claim by now: what is done is done, also if it took longer than its claim.
   *
   * @param keepForMs how long a duplicate is recognised
   */
  readonly finish: (key: string, keepForMs: number) => Promise<void>;
  /** Gives a claim back after a failure. Does nothing where the claim is another run's, or a run has ended well. */
  readonly release: (key: string, token: string) => Promise<void>;
}
