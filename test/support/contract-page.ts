import { brokers } from "../../src/brokers/index.ts";
import { readPackaged } from "../../src/cli/read-packaged.ts";
import type { ContractPages } from "../../src/brokers/contract-pages.ts";
import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import type { Contract } from "../../src/report/operations.ts";

const pages = new Map(
  await Promise.all(
    Object.entries(brokers).map(
      async ([name, broker]) => [name, (await broker.loadContractPages()) as ContractPages<never>] as const,
    ),
  ),
);

/** What a broker says of contracts on its pages. */
export function pagesFor({ target }: Contract): ContractPages<Contract> {
  const own = pages.get(target.slice(0, target.indexOf("@")));
  if (own === undefined) throw new Error(`${target} has no pages`);
  return own as unknown as ContractPages<Contract>;
}

/** The page of a contract, as the command line writes it. */
export function pageOf(contract: Contract, read: (file: string) => string = (file) => readPackaged(`src/${file}`)) {
  return renderContractPage(contract, pagesFor(contract), read);
}

/** The files on a page by their names, all of them or those of one language. */
export function filesOf(page: string, extension = ""): ReadonlyMap<string, string> {
  const blocks = page.matchAll(/^`([\w.-]+)`:\n\n```\w+\n([^]*?)^```$/gm);
  const files = [...blocks].map(([, name = "", text = ""]) => [name, text] as const);
  return new Map(files.filter(([name]) => name.endsWith(extension)));
}
