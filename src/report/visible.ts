/**
 * Makes a name fit to be shown: control characters become their pictures (␀, ␛), marks that reverse the direction of
 * text and halves of a character become �. A name in a declaration may hold any character, and none of them may drive
 * a terminal, end a string early or make an XML document malformed.
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(/[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g, "\ufffd");
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
