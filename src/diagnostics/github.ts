import type { Locate } from "./region.ts";
import type { Reported } from "./reported.ts";
import { renderMessageWithNames } from "./render.ts";

/**
 * Renders diagnostics as workflow commands, one line each, which GitHub Actions shows beside the lines of the file.
 *
 * Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
 *
 * @param options.file the file as the repository knows it: its path from the root; left out where there is none, as for a live broker
 * @param options.locate finds the line and the column; a diagnostic without them is shown at the first line
 * @returns the lines, each with its end; nothing for no diagnostics
 */
export function renderGithub(
  diagnostics: readonly Reported[],
  options: { readonly file?: string | undefined; readonly locate?: Locate | undefined },
): string {
  return diagnostics
    .map((each) => {
      const file = each.place?.file ?? options.file;
      const region = each.place?.region ?? (file === undefined ? undefined : options.locate?.(each.path));
      const properties = {
        ...(file === undefined ? {} : { file: file.replaceAll("\\", "/"), line: String(region?.line ?? 1) }),
        ...(region === undefined ? {} : { col: String(region.column) }),
        title: each.path === "" ? each.code : `${each.code} ${each.path}`,
      };
      const list = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`);
      return `::${each.severity} ${list.join(",")}::${escapeMessage(renderMessageWithNames(each))}\n`;
    })
    .join("");
}

// Source of both: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
function escapeMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
