import { expect } from "vitest";

/** The result for the mutants of one compiled system. */
export interface Score {
  /** The name of the system in the page's row. */
  readonly what: string;
  readonly mutants: readonly string[];
  /** Those that the proof accepts. */
  readonly alive: readonly string[];
}

/** A mutant that keeps every promise about a message, with the reason. */
export interface Equivalent {
  readonly name: RegExp;
  /** The systems that it holds for; all by default. */
  readonly in?: readonly string[];
  readonly because: string;
}

const explanationOf = (equivalent: readonly Equivalent[], { what }: Score, name: string): string | undefined =>
  equivalent.find((each) => (each.in?.includes(what) ?? true) && each.name.test(name))?.because;

/**
 * Accepted mutants without an explanation, and explanations of mutants that are not accepted. The latter would hide a
 * later acceptance.
 */
export function unexplained(scores: readonly Score[], equivalent: readonly Equivalent[]): readonly string[] {
  return scores.flatMap((score) =>
    score.mutants
      .filter((name) => score.alive.includes(name) !== (explanationOf(equivalent, score, name) !== undefined))
      .map((name) => `${score.what}: ${name}`),
  );
}

/** @param isAccepted whether the proof accepts a mutant */
export function scoreOfMutants<Mutant extends { readonly name: string }>(
  what: string,
  mutants: readonly Mutant[],
  isAccepted: (mutant: Mutant) => boolean,
): Score {
  const named = (some: readonly Mutant[]): readonly string[] => some.map(({ name }) => name);
  return { what, mutants: named(mutants), alive: named(mutants.filter(isAccepted)) };
}

interface Page {
  readonly title: string;
  readonly writtenBy: string;
  readonly what: string;
  readonly rows: string;
}

/** Compares the page of all scores. @param least the number of mutants that every case has more than */
export async function expectRefuted<Case>(
  page: Page & { readonly file: string },
  scoreOf: (which: Case) => Score,
  { cases, equivalent, least }: { cases: readonly Case[]; equivalent: readonly Equivalent[]; least: number },
): Promise<void> {
  const scores = cases.map(scoreOf);
  expect(unexplained(scores, equivalent)).toEqual([]);
  for (const { mutants } of scores) expect(mutants.length).toBeGreaterThan(least);
  await expect(mutationPage(page, scores, equivalent)).toMatchFileSnapshot(`../../docs/${page.file}`);
}

/** The table of scores, and the table of accepted mutants, each with the reason. */
export function mutationPage(input: Page, scores: readonly Score[], equivalent: readonly Equivalent[]): string {
  const alive = scores.flatMap((score) =>
    score.alive.map((name) => ({ name, because: explanationOf(equivalent, score, name) ?? "" })),
  );
  return [
    `# ${input.title}`,
    "",
    `<!-- Written by ${input.writtenBy}; \`npx vitest run --project thorough ${input.writtenBy} -u\` writes it anew. -->`,
    "",
    input.what,
    "",
    `| ${input.rows} | mutants | refuted | accepted |`,
    "|---|---|---|---|",
    ...scores.map(
      ({ what, mutants, alive: some }) =>
        `| ${what} | ${mutants.length} | ${mutants.length - some.length} | ${some.length} |`,
    ),
    "",
    "The proof accepts these mutants, and is right: every message still fares as the declaration promises.",
    "",
    "| mutant | why no message fares worse |",
    "|---|---|",
    ...[...Map.groupBy(alive, ({ because }) => because)].flatMap(([because, each]) =>
      [...new Set(each.map(({ name }) => name))].toSorted().map((name) => `| ${name} | ${because} |`),
    ),
    "",
  ].join("\n");
}
