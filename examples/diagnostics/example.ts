/** The codes that an example reports besides its own, if its target always reports them. */
interface Reporting {
  readonly also?: readonly `RD${number}`[];
}

/** A declaration as text. It is compiled if it has a target, and otherwise only checked. */
export interface DeclarationExample extends Reporting {
  readonly kind: "declaration";
  readonly format: "yaml" | "json";
  readonly text: string;
  /** The target as on the command line. */
  readonly target?: string;
  readonly strategy?: string;
  /** The export format to write it in. */
  readonly exportAs?: string;
}

/** A file with a name or language that matters. It is compiled if it has a target, and otherwise only loaded. */
export interface FileExample extends Reporting {
  readonly kind: "file";
  readonly name: string;
  readonly text: string;
  /** The target as on the command line. */
  readonly target?: string;
}

/** A target as on the command line. */
export interface TargetExample extends Reporting {
  readonly kind: "target";
  readonly target: string;
  readonly strategy?: string;
}

/** A target as a file, which has more settings than the command line, and a declaration to compile for it. */
export interface TargetFileExample extends Reporting {
  readonly kind: "target-file";
  readonly text: string;
  readonly declaration: string;
}

/** A project file. */
export interface ProjectExample extends Reporting {
  readonly kind: "project";
  readonly text: string;
}

/** A lock file. */
export interface LockExample extends Reporting {
  readonly kind: "lock";
  readonly text: string;
}

/** The file of a Pulumi stack. A value below the key `secure` is encrypted. */
export interface StackExample extends Reporting {
  readonly kind: "stack";
  readonly text: string;
}

/** A definitions file to read and audit. */
export interface DefinitionsExample extends Reporting {
  readonly kind: "definitions";
  readonly text: string;
  /** Left out, the audit uses the version in the file. */
  readonly target?: string;
  /** The target of an upgrade to ask about. */
  readonly upgradeTo?: string;
}

/** A file of a broker's own tool, to read and audit. */
export interface ExportExample extends Reporting {
  readonly kind: "export";
  /** The option of `redeliver audit` that takes the file. */
  readonly option: string;
  /** The noun for the file, such as `an ARM template`. */
  readonly noun: string;
  readonly text: string;
}

/** The output of `pulumi stack export`, to read and audit. */
export interface StateExample extends Reporting {
  /** Set for a run with `--allow-unread`. */
  readonly allowUnread?: true;
  readonly kind: "state";
  readonly text: string;
  readonly target: string;
}

/** The management API of a running broker, to read and audit. Tests serve it on a port of their own. */
export interface BrokerExample extends Reporting {
  readonly kind: "broker";
  readonly url: string;
  /** Nothing listens there, the broker refuses the user name or the password, or it has only its own exchanges. */
  readonly answers: "nothing" | "refusal" | "empty broker";
}

/** A scenario for a simulation of `examples/shop.yaml`. */
export interface ScenarioExample extends Reporting {
  readonly kind: "scenario";
  readonly text: string;
}

/** The start of a consumer of `examples/shop.yaml`: its options, and the broker or the broker's problem. */
export interface StartExample extends Reporting {
  readonly kind: "start";
  readonly text: string;
  /** The target, if the options name none. */
  readonly startedOn: string;
}

/** A look at a dead queue: the broker's version and the queue as the management API shows it, or a redrive's plan. */
export interface DeadQueueExample extends Reporting {
  readonly kind: "dead-queue";
  readonly text: string;
}

/** The options of a policy pack. */
export interface PolicyExample extends Reporting {
  readonly kind: "policy";
  readonly text: string;
}

/** The output of `pulumi preview --json`, to read. */
export interface PreviewExample extends Reporting {
  readonly kind: "preview";
  readonly text: string;
}

/** A deployed declaration, and the one to deploy over it. */
export interface ChangeExample extends Reporting {
  readonly kind: "change";
  readonly before: DeclarationExample;
  readonly after: DeclarationExample;
  /** The command that reads both. Left out if the second is deployed over the first. */
  readonly by?: "diff" | "migrate" | "migrate --next";
}

/** A declaration, and a definitions file to compare it with. */
export interface DriftExample extends Reporting {
  readonly kind: "drift";
  readonly declaration: string;
  /** The target as on the command line. */
  readonly target: string;
  readonly text: string;
}

/** A definitions file to infer a declaration from, or the answers of AWS. */
export interface AdoptExample extends Reporting {
  readonly kind: "adopt";
  /** Left out for a definitions file. */
  readonly target?: "sqs@eu-west-1";
  readonly text: string;
  /** The work queues to adopt. Left out for all of them. */
  readonly queues?: readonly string[];
}

/** Anything that a person may write, as plain data. */
export type Example =
  | DeclarationExample
  | FileExample
  | TargetExample
  | TargetFileExample
  | ProjectExample
  | LockExample
  | StackExample
  | DefinitionsExample
  | ExportExample
  | StateExample
  | BrokerExample
  | ScenarioExample
  | StartExample
  | DeadQueueExample
  | PolicyExample
  | PreviewExample
  | ChangeExample
  | DriftExample
  | AdoptExample;

/** An example that reports a code, and the same without the mistake. */
export interface ExamplePair {
  readonly fires: Example;
  readonly quiet: Example;
}
