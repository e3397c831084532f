/**
 * Makes a name fit to be shown: control characters become their pictures (␀, ␛), marks that reverse the direction of
 * text and halves of a character become �. A name in a declaration may hold any character, and none of them may drive
 * a terminal, end a string early or make an XML document malformed.
 */
export function visible(text: string): string {
  return Array.from(text.toWellFormed(), visibleCharacter).join("");
}

function visibleCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return isUnfit(code) ? "\ufffd" : character;
}

/** The second set of control characters, marks of direction, line separators, and what no XML document may hold. */
function isUnfit(code: number): boolean {
  return (
    (code >= 0x80 && code <= 0x9f) ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0xfffe ||
    code === 0xffff
  );
}

/** Makes a text of several lines fit to be shown, line by line. */
export function visibleLines(text: string): readonly string[] {
  return text.split("\n").map(visible);
}

/** Escapes what has a meaning in XML and HTML, in text and in quoted attributes. */
export function escapeXml(text: string): string {
  return visible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
