import type { Client, ContractPages } from "../../brokers/contract-pages.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import { type Contract, type OutcomeCase, type OutcomeRow, outcomeRows } from "../operations.ts";
import { formatRangeMs } from "../sentences.ts";
import { embed } from "./embed.ts";
import { inline, tableOf } from "./markdown.ts";

/**
 * Writes a contract as a page of Markdown for users of another language or framework. It explains the duties of their
 * code, and shows files that fulfil them.
 *
 * @param read returns the text of a file below `src`
 */
export function renderContractPage(
  contract: Contract,
  pages: ContractPages<Contract>,
  read: (file: string) => string,
): string {
  const embedded = Object.fromEntries(Object.entries(contract).filter(([name]) => pages.fields.includes(name)));
  const codeOf = (file: string): string => embed(file, read(file), embedded);
  return `${[
    `# Consuming as ${inline(contract.consumer)}`,
    "<!-- Written by `redeliver contract --markdown` from the contract alone. -->",
    `The operations that the code of the consumer ${inline(contract.consumer)} has to do on ${contract.target}, strategy ${contract.strategy}, to keep the declared retries. \`redeliver contract --json\` gives the same to programs.`,
    factsOf(contract, pages),
    "## For each outcome",
    "Perform the operations in order, each one only after the one before has succeeded.",
    tableOf(["outcome", "operations", "why"], outcomeRows(contract).map(rowOf)),
    "## Rules for every client",
    [...commonRules, ...pages.rulesOf(contract)].map((rule) => `- ${rule}`).join("\n"),
    "## Clients",
    ...pages.clientsOf(contract).map((client) => sectionOf(client, codeOf)),
  ].join("\n\n")}\n`;
}

const commonRules = [
  "An error is permanent if its name, or the name of an error that caused it, is among the permanent errors. Every other error is transient.",
  "End a handler that exceeds its time limit, and treat it as a transient failure.",
  "The handler has to be idempotent: every broker delivers at least once.",
];

function factsOf(contract: Contract, pages: ContractPages<Contract>): string {
  const delays = contract.attempts
    .slice(1)
    .map(({ delayMs, delayLatestMs = delayMs }) => formatRangeMs(delayMs, delayLatestMs));
  const { handlerTimeoutMs, permanentErrors } = contract;
  const producers = pages.producersOf(contract);
  return tableOf(
    ["", ""],
    [
      [
        "work queue",
        contract.workQueue === null ? "one for each instance, which declares it" : inline(contract.workQueue),
      ],
      ...(producers === null ? [] : [["producers", producers]]),
      ["dead queue", contract.deadQueue === null ? "none" : inline(contract.deadQueue)],
      ["protocol", contract.protocol],
      ["attempts", String(contract.attempts.length)],
      ["delays between them", delays.length === 0 ? "none" : delays.join(", ")],
      ["a handler may run for", handlerTimeoutMs === null ? "not declared" : formatDurationMs(handlerTimeoutMs)],
      ["permanent errors", permanentErrors.length === 0 ? "none declared" : permanentErrors.map(inline).join(", ")],
      ["number of the attempt", pages.attemptNumberOf(contract)],
    ],
  );
}

function sectionOf({ title, evidence, text, files = [] }: Client, codeOf: (file: string) => string): string {
  const blocks = files.map((file) => {
    const name = file.slice(file.lastIndexOf("/") + 1);
    const language = languages[name.slice(name.lastIndexOf(".") + 1)] ?? "";
    return `\`${name}\`:\n\n\`\`\`${language}\n${codeOf(file)}\`\`\``;
  });
  return [`### ${title}`, `*${evidence}*`, ...text, ...blocks].join("\n\n");
}

/** Markdown's name for a language, by the extension of its files. */
const languages: Readonly<Record<string, string>> = {
  cs: "csharp",
  java: "java",
  mjs: "js",
  py: "python",
  yaml: "yaml",
};

function rowOf({ outcome, asked, cases, why }: OutcomeRow): readonly string[] {
  return [asked === null ? outcome : `${outcome} ${asked}`, cases.map(caseOf).join("<br>"), why ?? ""];
}

function caseOf({ attempts, operations }: OutcomeCase): string {
  const numbered = operations.length > 1;
  const lines = operations.map(({ name, flags }, index) => {
    const said = flags.length === 0 ? "" : ` (${flags.join("; ")})`;
    return `${numbered ? `${index + 1}. ` : ""}\`${name}\`${said}`;
  });
  return [...(attempts === null ? [] : [`*${attempts}:*`]), ...lines].join("<br>");
}
