/**
 * Remembers which messages a consumer has handled and is handling. All instances of the consumer share a store, and
 * each call is one atomic step there.
 */
export interface IdempotencyStore {
  /**
   * Claims a key for one run of the handler. A claim that is neither finished nor released expires by itself, so a
   * crash does not block its key for ever.
   *
   * @param token identifies this run. Only this token can release the claim
   * @returns `begun` if the claim was made, `running` if another run has one, `done` if a run has succeeded
   */
  readonly begin: (key: string, token: string, expiresAfterMs: number) => Promise<"begun" | "running" | "done">;
  /**
   * Remembers that a run has succeeded, even if its claim has expired and belongs to another run by now.
   *
   * @param keepForMs the time for which a duplicate is recognised
   */
  readonly finish: (key: string, keepForMs: number) => Promise<void>;
  /**
   * Releases a claim after a failure. It does nothing if the claim belongs to another run, or if a run has succeeded.
   */
  readonly release: (key: string, token: string) => Promise<void>;
}
