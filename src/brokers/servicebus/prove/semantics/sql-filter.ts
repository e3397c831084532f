import { type Wildcards, anyOne, anyRun, fitsWildcards } from "../../../../declare/wildcards.ts";
import { servicebusLimits } from "../../compile/capabilities.ts";

/** SQL's logic: a comparison with a missing value is neither true nor false. */
type Truth = boolean | null;
type Predicate = (subject: string | null) => Truth;

/** The expression uses a part of the language that Redeliver does not know. */
class BeyondKnowledge extends Error {}

const tokenPattern = /\s*(?:('(?:[^']|'')*')|(\d+)|([A-Za-z_.]+)|(<>|!=|[=(),]))/y;

/**
 * Reads an expression over the subject of a message, `sys.Label`. It knows comparisons with texts, `LIKE`, `IN`, `IS
 * NULL`, and the words that join them. Claims: sql-compares, sql-compares-case. Source: Service Bus documentation,
 * "Subscription rule SQL filter syntax".
 *
 * @returns a test that tells if the filter lets a subject in; null if the expression uses anything else
 */
export function readSqlFilter(expression: string): ((subject: string | null) => boolean) | null {
  if (expression.length > servicebusLimits.filterLength) return null;
  try {
    const reader = readerOf(expression);
    const predicate = disjunction(reader);
    if (reader.peek() !== null) return null;
    return (subject) => predicate(subject) === true;
  } catch (error) {
    if (error instanceof BeyondKnowledge) return null;
    throw error;
  }
}

type Reader = ReturnType<typeof readerOf>;

function readerOf(expression: string) {
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  const text = expression.trim();
  while (tokenPattern.lastIndex < text.length) {
    const match = tokenPattern.exec(text);
    if (match === null) throw new BeyondKnowledge();
    tokens.push(match[0].trim());
  }
  let at = 0;
  const peek = (): string | null => tokens[at] ?? null;
  const next = (): string => {
    const token = tokens[at++];
    if (token === undefined) throw new BeyondKnowledge();
    return token;
  };
  /** Takes the next token if it is this one, in upper or lower case. */
  const takes = (token: string): boolean => {
    if (peek()?.toUpperCase() !== token) return false;
    at++;
    return true;
  };
  return { peek, next, takes };
}

function disjunction(reader: Reader): Predicate {
  const first = conjunction(reader);
  if (!reader.takes("OR")) return first;
  const rest = disjunction(reader);
  return (subject) => either(first(subject), rest(subject));
}

function conjunction(reader: Reader): Predicate {
  const first = negation(reader);
  if (!reader.takes("AND")) return first;
  const rest = conjunction(reader);
  return (subject) => not(either(not(first(subject)), not(rest(subject))));
}

function negation(reader: Reader): Predicate {
  if (!reader.takes("NOT")) return comparison(reader);
  const negated = negation(reader);
  return (subject) => not(negated(subject));
}

function comparison(reader: Reader): Predicate {
  if (reader.takes("(")) {
    const inner = disjunction(reader);
    expect(reader, ")");
    return inner;
  }
  const left = reader.next();
  if (/^\d+$/.test(left)) {
    expect(reader, "=");
    const isTrue = Number(left) === Number(reader.next());
    return () => isTrue;
  }
  if (left.toUpperCase() !== "SYS.LABEL") throw new BeyondKnowledge();
  if (reader.takes("IS")) {
    const isNegated = reader.takes("NOT");
    expect(reader, "NULL");
    return (subject) => (subject === null) !== isNegated;
  }
  if (reader.takes("NOT")) {
    const positive = textTest(reader, reader.next());
    return (subject) => not(positive(subject));
  }
  return textTest(reader, reader.next());
}

function textTest(reader: Reader, operator: string): Predicate {
  switch (operator.toUpperCase()) {
    case "=":
      return comparesWith([text(reader)]);
    case "<>":
    case "!=": {
      const equal = comparesWith([text(reader)]);
      return (subject) => not(equal(subject));
    }
    case "IN": {
      expect(reader, "(");
      const texts = [text(reader)];
      while (reader.takes(",")) texts.push(text(reader));
      expect(reader, ")");
      return comparesWith(texts);
    }
    case "LIKE": {
      const pattern = text(reader);
      const expected = likeExpression(pattern, reader.takes("ESCAPE") ? text(reader) : null);
      return (subject) => (subject === null ? null : fitsWildcards(expected, subject));
    }
    default:
      throw new BeyondKnowledge();
  }
}

function comparesWith(texts: readonly string[]): Predicate {
  return (subject) => (subject === null ? null : texts.includes(subject));
}

/** `%` is any text, `_` any one character. A character after the escape character stands for itself. */
function likeExpression(pattern: string, escape: string | null): Wildcards {
  const wildcards: (string | typeof anyOne | typeof anyRun)[] = [];
  let isEscaped = false;
  for (const character of pattern) {
    if (!isEscaped && character === escape) {
      isEscaped = true;
      continue;
    }
    const isWild = !isEscaped && (character === "%" || character === "_");
    wildcards.push(isWild ? (character === "%" ? anyRun : anyOne) : character);
    isEscaped = false;
  }
  return wildcards;
}

function text(reader: Reader): string {
  const token = reader.next();
  if (!token.startsWith("'")) throw new BeyondKnowledge();
  return token.slice(1, -1).replaceAll("''", "'");
}

function expect(reader: Reader, token: string): void {
  if (!reader.takes(token)) throw new BeyondKnowledge();
}

function either(one: Truth, other: Truth): Truth {
  if (one === true || other === true) return true;
  return one === null || other === null ? null : false;
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}
