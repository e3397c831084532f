/** The output of a command, without the lines that only a slow machine shows. */
export function withoutProgress(text: string): string {
  return text.replaceAll(/^redeliver: still working after .*\n/gm, "");
}
