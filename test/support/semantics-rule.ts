/** One rule of the semantics of a broker, with its evidence. */
export interface Rule {
  /** The behaviour of the broker, in a sentence. */
  readonly says: string;
  /** A page of the vendor, a thread with an answer of its maintainers, a recorded test, or a public report. */
  readonly source: string;
  /** True if no source settles the rule. The semantics then takes all the possibilities, or the worse ones. */
  readonly assumed?: true;
}

export function assumed(says: string, source = "no source"): Rule & { readonly assumed: true } {
  return { says, source, assumed: true };
}
