import type { DiagnosticCode } from "./catalogue.ts";

/** The codes that an example reports besides its own, where its target cannot be had without them. */
interface Reporting {
  readonly also?: readonly DiagnosticCode[];
}

/** A declaration as text; it is compiled where a target is given, and checked where not. */
export interface DeclarationExample extends Reporting {
  readonly kind: "declaration";
  readonly format: "yaml" | "json";
  readonly text: string;
  /** As it is written on the command line: `rabbitmq@4.3`. */
  readonly target?: string;
  readonly strategy?: string;
  /** A format that it is written in. */
  readonly exportAs?: string;
}

/** A file, where its name or its language matters; it is compiled where a target is given, and loaded where not. */
export interface FileExample extends Reporting {
  readonly kind: "file";
  readonly name: string;
  readonly text: string;
  /** As it is written on the command line: `servicebus@standard`. */
  readonly target?: string;
}

/** A target as it is written on the command line. */
export interface TargetExample extends Reporting {
  readonly kind: "target";
  readonly target: string;
  readonly strategy?: string;
}

/** A target as a file, which may say more than a word on the command line, and the declaration that is compiled for it. */
export interface TargetFileExample extends Reporting {
  readonly kind: "target-file";
  readonly text: string;
  readonly declaration: string;
}

/** The file of a Pulumi stack; a value below the key `secure` is an encrypted one. */
export interface StackExample extends Reporting {
  readonly kind: "stack";
  readonly text: string;
}

/** A definitions file of RabbitMQ, which is read and audited. */
export interface DefinitionsExample extends Reporting {
  readonly kind: "definitions";
  readonly text: string;
  /** Where it is left out, the version that the file says. */
  readonly target?: string;
  /** What an upgrade is asked about. */
  readonly upgradeTo?: string;
}

/** A list of what the AWS CLI printed, which is read and audited. */
export interface ListingExample extends Reporting {
  readonly kind: "listing";
  readonly text: string;
}

/** What `pulumi stack export` wrote, which is read and audited. */
export interface StateExample extends Reporting {
  readonly kind: "state";
  readonly text: string;
  readonly target: string;
}

/** The management API of a running broker, which is read and audited. Tests serve it on a port of their own. */
export interface BrokerExample extends Reporting {
  readonly kind: "broker";
  readonly url: string;
  /** Nothing listens there; the user name or the password is refused; or a broker that has its own exchanges and nothing else. */
  readonly answers: "nothing" | "refusal" | "empty broker";
}

/** A scenario for a simulation of `examples/shop.yaml`. */
export interface ScenarioExample extends Reporting {
  readonly kind: "scenario";
  readonly text: string;
}

/** How a consumer of `examples/shop.yaml` is started, and what it finds: options, and the broker or what is wrong with it. */
export interface StartExample extends Reporting {
  readonly kind: "start";
  readonly text: string;
}

/** The options of a policy pack. */
export interface PolicyExample extends Reporting {
  readonly kind: "policy";
  readonly text: string;
}

/** What `pulumi preview --json` printed, which is read. */
export interface PreviewExample extends Reporting {
  readonly kind: "preview";
  readonly text: string;
}

/** A template of Azure Resource Manager, which is read and audited. */
export interface ArmExample extends Reporting {
  readonly kind: "arm";
  readonly text: string;
}

/** A declaration that is deployed, and the one that is to be deployed over it. */
export interface ChangeExample extends Reporting {
  readonly kind: "change";
  readonly before: DeclarationExample;
  readonly after: DeclarationExample;
}

/** Something that a person may write, as plain data. */
export type Example =
  | DeclarationExample
  | FileExample
  | TargetExample
  | TargetFileExample
  | StackExample
  | DefinitionsExample
  | ListingExample
  | ArmExample
  | StateExample
  | BrokerExample
  | ScenarioExample
  | StartExample
  | PolicyExample
  | PreviewExample
  | ChangeExample;

/** What reports a code, and the same without the mistake. */
export interface ExamplePair {
  readonly fires: Example;
  readonly quiet: Example;
}
