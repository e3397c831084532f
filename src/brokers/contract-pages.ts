/** A client's or framework's way to keep a contract, as a section of a page. */
export interface Client {
  readonly title: string;
  /** States whether and against which server its code was run. A page never shows untested code as tested. */
  readonly evidence: string;
  /** Paragraphs of Markdown. */
  readonly text: readonly string[];
  /** Its code and settings: files below `src`. A constant in them holds the contract. */
  readonly files?: readonly string[];
}

/** A broker's additions to the page of a contract: the core knows no client. */
export interface ContractPages<Contract> {
  /** The place where a message holds its attempt number. */
  readonly attemptNumberOf: (contract: Contract) => string;
  /** The duty of producers that send straight to the work queue. Null if the messages come from sources. */
  readonly producersOf: (contract: Contract) => string | null;
  /** Rules for every client, beside those of all brokers. */
  readonly rulesOf: (contract: Contract) => readonly string[];
  readonly clientsOf: (contract: Contract) => readonly Client[];
  /** The fields of the contract that the files read. */
  readonly fields: readonly string[];
}
