/**
 * The site with the docs of this version. All links to it begin with this address. A test compares it with the homepage
 * and the version in package.json.
 */
const docsSite = "https://redeliver.dev/0.1";

/** @param page such as `policies/retry-jitter`, without an ending */
export function docsPage(page: string): string {
  return `${docsSite}/${page}`;
}

export function docsOfCode(code: string): string {
  return docsPage(`diagnostics/${code.toLowerCase()}`);
}
