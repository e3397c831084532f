/** The code block of one language on a page. */
export function codeOf(page: string, language: string): string {
  const code = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1];
  if (code === undefined) throw new Error(`the page has no ${language}`);
  return code;
}
