/** The code block of one language on a page, the first below a heading where one is named. */
export function codeOf(page: string, language: string, heading = ""): string {
  const below = heading === "" ? page : (page.split(`### ${heading}\n`)[1] ?? "");
  const code = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(below)?.[1];
  if (code === undefined) throw new Error(`the page has no ${language} ${heading}`);
  return code;
}
