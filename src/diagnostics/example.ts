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
}

/** A file, where its name or its language matters. */
export interface FileExample extends Reporting {
  readonly kind: "file";
  readonly name: string;
  readonly text: string;
}

/** A target as it is written on the command line. */
export interface TargetExample extends Reporting {
  readonly kind: "target";
  readonly target: string;
  readonly strategy?: string;
}

/** The file of a Pulumi stack; a value below the key `secure` is an encrypted one. */
export interface StackExample extends Reporting {
  readonly kind: "stack";
  readonly text: string;
}

/** Something that a person may write, as plain data. */
export type Example = DeclarationExample | FileExample | TargetExample | StackExample;

/** What reports a code, and the same without the mistake. */
export interface ExamplePair {
  readonly fires: Example;
  readonly quiet: Example;
}
