/** The names that a project file may have in the current folder. The first one that exists counts. */
export const projectFiles = ["yaml", "yml", "json", "ts", "mts", "cts", "js", "mjs", "cjs"].map(
  (ending) => `redeliver.config.${ending}`,
);
