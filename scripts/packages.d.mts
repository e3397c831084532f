export const commandLinePackages: readonly string[];
