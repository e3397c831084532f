/** The names that a project file may have in the current folder, which has one of them. */
export const projectFiles = ["yaml", "yml", "json", "ts", "mts", "cts", "js", "mjs", "cjs"].map(
  (ending) => `redeliver.config.${ending}`,
);
