const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

/** Null if this Node can run Redeliver. The least version is that of `engines` in package.json. */
export const nodeProblem: string | null =
  major > 22 || (major === 22 && minor >= 18)
    ? null
    : `Redeliver needs Node.js 22.18 or newer, and this is ${process.version}: install one from https://nodejs.org`;
