/** Whether a name fits a pattern, in which `*` stands for any number of characters. Without one the name has to be the same. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
}
