/**
 * Takes user and password out of whatever looks like a URL in a text, so that a URL in the wrong place of a command line is not repeated
 * with its password. A password may hold any character, so all up to the last @ of the line goes.
 */
export function maskCredentials(text: string): string {
  return text.replaceAll(/:\/\/.*@/g, "://…@");
}
