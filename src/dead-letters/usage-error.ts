/** Input that cannot be used, in one sentence for a person. Nothing has moved. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
