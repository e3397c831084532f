/** What came of the mutants of one compiled system. */
export interface Score {
  /** What was compiled, as the page's row says it. */
  readonly what: string;
  readonly mutants: readonly string[];
  /** Those that the proof accepts. */
  readonly alive: readonly string[];
}

/** A mutant that behaves no differently for a message, as far as anything is promised about it, with the reason. */
export interface Equivalent {
  readonly name: RegExp;
  /** Of which systems that holds; all where it is left out. */
  readonly in?: readonly string[];
  readonly because: string;
}

const explanationOf = (equivalent: readonly Equivalent[], { what }: Score, name: string): string | undefined =>
  equivalent.find((each) => (each.in?.includes(what) ?? true) && each.name.test(name))?.because;

/** What is accepted and cannot be explained, and explanations of what is not accepted: these would hide the day on which it is. */
export function unexplained(scores: readonly Score[], equivalent: readonly Equivalent[]): readonly string[] {
  return scores.flatMap((score) =>
    score.mutants
      .filter((name) => score.alive.includes(name) !== (explanationOf(equivalent, score, name) !== undefined))
      .map((name) => `${score.what}: ${name}`),
  );
}

/** The table of scores, and the list of what behaves no differently. */
export function mutationPage(
  input: {
    readonly title: string;
    readonly writtenBy: string;
    readonly what: string;
    readonly rows: string;
    readonly more?: string;
  },
  scores: readonly Score[],
  equivalent: readonly Equivalent[],
): string {
  const alive = scores.flatMap((score) =>
    score.alive.map((name) => ({ name, because: explanationOf(equivalent, score, name) ?? "" })),
  );
  return [
    `# ${input.title}`,
    "",
    `<!-- Written by ${input.writtenBy}; \`npx vitest run --project fast -u\` writes it anew. -->`,
    "",
    input.what,
    "",
    `| ${input.rows} | mutants | refuted | behave no differently |`,
    "|---|---|---|---|",
    ...scores.map(
      ({ what, mutants, alive: some }) =>
        `| ${what} | ${mutants.length} | ${mutants.length - some.length} | ${some.length} |`,
    ),
    "",
    "Those that behave no differently for any message, and why:",
    "",
    ...[...Map.groupBy(alive, ({ because }) => because)].map(
      ([because, each]) => `- ${because}: ${[...new Set(each.map(({ name }) => name))].toSorted().join("; ")}`,
    ),
    "",
    ...(input.more === undefined ? [] : [input.more, ""]),
  ].join("\n");
}
