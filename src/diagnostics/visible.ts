/**
 * Characters that no text of ours may contain as they are. They control a terminal, end a line, reverse the direction
 * of text, are invisible, or are no characters. Names, paths and messages of others may contain them.
 *
 * Source: https://www.unicode.org/reports/tr44/#Property_Definitions, and https://www.unicode.org/reports/tr36/ for the
 * reasons.
 */
const unfit = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Finds out in a fraction of the time that a text has none of them, as most texts do. A line feed may stay in JSON. */
const unlikeAscii = /[^ -~]/;
const unlikeJson = /[^\n -~]/;

/** Makes a text safe to show on one line. Control characters become their pictures (␀, ␛), the others �. */
export function visible(text: string): string {
  if (!unlikeAscii.test(text)) return text;
  return text.replaceAll(unfit, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** Makes a text of several lines safe to show, line by line. */
export function visibleLines(text: string): readonly string[] {
  return text.split("\n").map(visible);
}

/** Escapes unsafe characters in the text of JSON, so that the data stay the same. Line ends stay. */
function escapeUnfit(json: string): string {
  if (!unlikeJson.test(json)) return json;
  return json.replaceAll(unfit, (character) =>
    character === "\n"
      ? character
      : Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
          .map((code) => `\\u${code.toString(16).padStart(4, "0")}`)
          .join(""),
  );
}

/** Indented JSON that is safe to show. */
export function printableJson(value: unknown): string {
  return escapeUnfit(JSON.stringify(value, null, 2));
}

/** A user's value on one line, as JSON if possible. */
export function visibleValue(value: unknown): string {
  return escapeUnfit(typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? visible(String(value))));
}
