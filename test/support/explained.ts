import { vi } from "vitest";

import { explainCommand } from "../../src/cli/explain.ts";

/** The outcome of `redeliver explain`. */
export function explained(
  code: string,
  options: { readonly json?: boolean },
): { exitCode: number; output: string; errors: string } {
  const result = { exitCode: -1, output: "", errors: "" };
  const output = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    result.output += String(text);
    return true;
  });
  const errors = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    result.errors += String(text);
    return true;
  });
  try {
    result.exitCode = explainCommand(code, options);
  } finally {
    output.mockRestore();
    errors.mockRestore();
  }
  return result;
}
