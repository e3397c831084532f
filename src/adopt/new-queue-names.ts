import type { FoundConsumer, Inferred } from "./found.ts";

/**
 * The names of new queues whose usual names are taken, with a number behind these. Brokers may ignore case.
 *
 * @param taken the names of everything that is there
 */
export function newQueueNames(
  consumers: readonly FoundConsumer[],
  taken: readonly string[],
  separator: string,
  usualName: (consumer: FoundConsumer) => string,
): ReadonlyMap<FoundConsumer, Inferred<string>> {
  const lower = new Set(taken.map((each) => each.toLowerCase()));
  const isTaken = (each: FoundConsumer): boolean =>
    each.isNewQueue === true && lower.has(usualName(each).toLowerCase());
  return new Map(
    consumers.filter(isTaken).map((each) => {
      const usual = usualName(each);
      let number = 2;
      while (lower.has(`${usual}${separator}${number}`.toLowerCase())) number++;
      return [each, { value: `${usual}${separator}${number}`, from: `${usual} is there, and is not its queue` }];
    }),
  );
}
