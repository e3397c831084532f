/**
 * The purpose that a queue's name shows, if its place in the topology cannot show it. Frameworks publish failed
 * messages, copies and replies themselves, so no dead-letter exchange leads there.
 *
 * - `failures`: messages that could not be handled stay there, as in a dead queue.
 * - `copies`: an audit of handled messages, or replies. The sender has the originals.
 * - `tools`: a tool of a framework consumes it, with retries of its own.
 */
export type Purpose = "failures" | "copies" | "tools";

/** True if the name says that messages wait there. Frameworks name their delay queues so. */
export function isNamedForWaiting(queue: string): boolean {
  return wordsOf(queue).some((word) => waiting.test(word));
}

const waiting = /^(delay(s|ed)?|wait(ing)?|retry|retries|later|deferred|backoff)$/;

/** True if the last word says that an exchange brings messages back. Others have business names, such as back-office. */
export function isNamedForReturning(exchange: string): boolean {
  const [last = ""] = wordsOf(exchange).slice(-1);
  return waiting.test(last) || /^(again|back|redeliver(y|ed)?|requeue(d|s)?)$/.test(last);
}

const purposes: Readonly<Record<Exclude<Purpose, "tools">, ReadonlySet<string>>> = {
  failures: new Set([
    ..."error errors failed failure failures fault faults poison skipped invalid rejected undeliverable quarantine".split(
      " ",
    ),
    ..."dead deadletter deadletters dlq dlx parked parking parkinglot".split(" "),
  ]),
  copies: new Set("audit audits reply replies response responses callback callbacks rpc".split(" ")),
};

/** @returns null if the name shows neither: nearly always a queue with a consumer */
export function purposeOf(queue: string): Purpose | null {
  // Source: the queues that ServiceControl and its instances for audit and monitoring make.
  if (/^Particular[.-]/.test(queue)) return "tools";
  const words = wordsOf(queue);
  // Words that say nothing about a purpose, such as a number or the id of an instance behind its name.
  while (/^(queue|q|v|messages?|letters?|\w*\d\w*)$/.test(words.at(-1) ?? "")) words.pop();
  // Some names have two words: dead-letter and parking-lot.
  const last = [words.at(-1) ?? "", words.slice(-2).join("")];
  const names = Object.keys(purposes) as (keyof typeof purposes)[];
  if (words.some((word) => /^(dlq|dlt|dlx|deadletters?)$/.test(word))) return "failures";
  return names.find((purpose) => last.some((word) => purposes[purpose].has(word))) ?? null;
}

/** True for a queue of messages that are given up: failures, and those that nobody took in time. */
export function isNamedForEnds(queue: string): boolean {
  return purposeOf(queue) === "failures" || wordsOf(queue).at(-1) === "expired";
}

/** True if the word for the purpose is one of events as well, such as payment.failed. Nobody calls an event a dead letter. */
export function mayBeOfEvents(queue: string): boolean {
  const purpose = purposeOf(queue);
  const isDead = wordsOf(queue).some((word) =>
    /^(dead|dl[qtx]|deadletters?|park(ed|ing|inglot)|poison|quarantine)$/.test(word),
  );
  return purpose === "copies" || (purpose === "failures" && !isDead);
}

function wordsOf(name: string): string[] {
  return withoutRandom(name)
    .replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d+(?![A-Za-z\d]))/g, "-")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** A name without its random end: 12 or 13 characters of CloudFormation, and 8 digits of the CDK before them. */
function withoutRandom(name: string): string {
  return name
    .replace(/(?<=[A-Za-z])(?=[A-F]*\d)[A-F\d]{8}-[A-Za-z\d]{12,13}$/, "")
    .replace(/-(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z])[A-Za-z\d]{12,13}$/, "");
}

/** Matches the name of a queue in another name, but not as a part of a longer word. `ordersDlq` has two words. */
export function wholeName(queue: string): RegExp {
  const literal = queue.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  const letters = /\p{Lu}$/u.test(queue) ? "L" : "Ll";
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{${letters}}\p{N}])`, "u");
}

/** The queue of these that has the name of another one in its own, and a word for failures. The shortest counts. */
export function namedDeadQueue(queue: string, others: readonly string[]): string | undefined {
  const whole = wholeName(queue);
  return others
    .filter((name) => name !== queue && whole.test(name) && purposeOf(name) === "failures")
    .filter((name) => !name.endsWith("skipped"))
    .toSorted((left, right) => left.length - right.length)[0];
}
