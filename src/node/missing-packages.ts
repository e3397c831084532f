import { createRequire } from "node:module";

/**
 * The packages that Redeliver cannot load from where it is installed. The bundled commands load a package on its first
 * use, deep in a connection, where the lack of it looks like a broker that does not answer.
 */
export function missingPackages(names: readonly string[]): readonly string[] {
  const require = createRequire(import.meta.url);
  return names.filter((name) => {
    try {
      require.resolve(name);
      return false;
    } catch (cause) {
      // A package for ES modules alone is there.
      return (cause as { readonly code?: unknown }).code === "MODULE_NOT_FOUND";
    }
  });
}
