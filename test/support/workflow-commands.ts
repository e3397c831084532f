/** A workflow command as GitHub's runner reads it. */
export interface WorkflowCommand {
  readonly command: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/**
 * Reads the lines that the runner takes for commands. Any other line is an error here. Source:
 * https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
 */
export function parseWorkflowCommands(text: string): WorkflowCommand[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.pop() !== "") throw new Error("the last line has no end");
  return lines.map((line) => {
    const [, command, list, message] = /^::(error|warning) ([^:]*)::(.*)$/su.exec(line) ?? [];
    if (command === undefined || list === undefined || message === undefined) throw new Error(`no command: ${line}`);
    const properties = list.split(",").map((each) => {
      const [name = "", ...value] = each.split("=");
      return [name, unescape(value.join("="))] as const;
    });
    return { command, properties: Object.fromEntries(properties), message: unescape(message) };
  });
}

function unescape(text: string): string {
  return text
    .replaceAll("%0D", "\r")
    .replaceAll("%0A", "\n")
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%25", "%");
}
