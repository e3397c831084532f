import { maskCredentials } from "./mask-credentials.ts";
import type { Locate } from "./region.ts";
import type { Reported } from "./reported.ts";
import { renderMessageWithNames } from "./render.ts";
import { visible } from "./visible.ts";

/**
 * Renders diagnostics as workflow commands, one line each. GitHub Actions shows them beside the lines of the file.
 *
 * Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
 *
 * @param options.file the path from the repository's root. Left out if there is no file, as for a live broker
 * @param options.locate finds the line and the column. Without it a diagnostic appears at the first line
 * @returns the lines, each with its line break; the empty text if there are no diagnostics
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
      return workflowCommand(
        each.waived === undefined ? each.severity : "notice",
        properties,
        renderMessageWithNames(each),
      );
    })
    .join("");
}

/** Renders a fact that is no problem as one workflow command, at the first line of a file. */
export function renderGithubNotice(title: string, message: string, file: string): string {
  return workflowCommand("notice", { file: file.replaceAll("\\", "/"), line: "1", title }, visible(message));
}

function workflowCommand(name: string, properties: Readonly<Record<string, string>>, message: string): string {
  const list = Object.entries(properties).map(
    ([key, value]) => `${key}=${escapeProperty(visible(maskCredentials(value)))}`,
  );
  return `::${name} ${list.join(",")}::${escapeMessage(message)}\n`;
}

// Source of both functions: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
function escapeMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
