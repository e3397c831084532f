/**
 * The beginning of a URL. A library may have removed one of its slashes. It excludes URLs of files, which have no user,
 * and `user:password`, which stands in our examples.
 */
const scheme = String.raw`\b(?!file:)[a-z][a-z0-9+.-]{1,30}:[\\/]+(?![\\/]|user:password@)`;
/** The port after a host, as opposed to the beginning of a password. */
const port = String.raw`\d{1,5}(?![^\s/?#"'\x60,;:.)\]<>])`;
const secretName = String.raw`(?:[\w-]{0,40}(?:token|password|passwd|passphrase|secret|signature|api[_-]?key|access[_-]?key|account[_-]?key)|pwd|sig)`;

const rules: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A URL in quotes ends with them, because its password may contain anything else.
  [new RegExp(String.raw`((["'\x60])${scheme})(?:\\.|(?!\2)[^\\])*@`, "gis"), "$1…@"],
  // After a name, a colon that no port follows begins a password. The password may contain blanks.
  [new RegExp(String.raw`(${scheme})[^\s/@:]*:(?!${port})[^]*@`, "gi"), "$1…@"],
  // A short word is a user name. The text after a slash may be the scope of a package.
  [new RegExp(String.raw`(${scheme})(?![a-z]{1,12}@[^\s@]*(?:\s|$))\S*[^\s/]@`, "gi"), "$1…@"],
  // The host identifies a URL without a scheme.
  [
    /(^|[\s"'`(=,/])(?!user:password@)[\w.%+-]{1,64}:[^\s@/]+@(?=[a-z][\w-]*(?:\.[a-z]|:\d)|localhost\b|(?:\d{1,3}\.){3}\d|\[)/gi,
    "$1…@",
  ],
  [/(["'`])[\w.%+-]{1,64}:(?!\/)[^\s@"'`]+@(?=[a-z][\w.-]*\1)/gi, "$1…@"],
  [new RegExp(String.raw`((?<![\w-])(?:--)?${secretName}=)(?:"[^"]*"|'[^']*'|[^\s&;,"'\x60)#]+)`, "gi"), "$1…"],
  [new RegExp(String.raw`(["'](?:${secretName})["']\s*:\s*)(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')`, "gi"), '$1"…"'],
  [/\b(Bearer\s+)[\w.~+/=-]{8,}/g, "$1…"],
];

/**
 * Removes passwords and tokens from a text: from URLs, queries and connection strings. A URL in the wrong place, or a
 * message of others, would repeat them.
 *
 * It removes everything up to the last @, because a password may contain one. If in doubt, it treats a text as a
 * secret.
 */
export function maskCredentials(text: string): string {
  if (!/@|Bearer|token|pass[wp]|secret|signature|(?:api|access|account).?key|(?:pwd|sig)["'=]/i.test(text)) return text;
  return rules.reduce((masked, [pattern, replacement]) => masked.replaceAll(pattern, replacement), text);
}

const wholeUrl = new RegExp(String.raw`(${scheme})(?![a-z]{1,12}@[^@]*$)[^]*[^\s/]@`, "i");
const wholeName = new RegExp(`^${secretName}$`, "i");

/**
 * Masks the texts in a value, and each value that has the name of a secret. A value without secrets comes back as it
 * is.
 *
 * @param name the name of the value itself
 */
export function maskedValue(value: unknown, name = "", depth = 0): unknown {
  if (typeof value === "string") return wholeName.test(name) ? "…" : maskCredentials(value.replace(wholeUrl, "$1…@"));
  if (value === null || typeof value !== "object") return value;
  // The exports of a module may contain themselves.
  if (depth > 100) return "…";
  const before = Object.entries(value);
  const after = before.map(([key, each]) => [maskCredentials(key), maskedValue(each, key, depth + 1)] as const);
  if (after.every(([key, each], index) => key === before[index]?.[0] && each === before[index]?.[1])) return value;
  return Array.isArray(value) ? after.map(([, each]) => each) : Object.fromEntries(after);
}
