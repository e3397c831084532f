import type { z } from "zod";

import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Adapter, AnySystem } from "./adapter.ts";
import type { LetterReader } from "./dead-letter.ts";

/** An npm package that speaks a protocol, and the adapter that drives it. */
export interface ClientLibrary<System extends AnySystem, TargetInput, Connection> {
  /** The package that a user installs beside Redeliver. */
  readonly name: string;
  /** The options that a user may give for the connection. */
  readonly connection: z.ZodType<Connection>;
  /** Imports the adapter, and with it the package. */
  readonly load: () => Promise<Adapter<System, TargetInput, Connection>>;
}

/** How the messages of one broker are consumed. */
export interface Consuming<System extends AnySystem, TargetInput, Connection> {
  /** Keyed by the protocol that a contract names. */
  readonly libraries: Readonly<
    Record<System["contracts"][number]["protocol"], ClientLibrary<System, TargetInput, Connection>>
  >;
  /** Readers of the broker's dead letters: each knows the messages of one client library. */
  readonly letterReaders: readonly LetterReader[];
  /** Source: OpenTelemetry, the well-known values of `messaging.system`. */
  readonly messagingSystem: string;
  /** The reason why `consume` does not run this consumer, or null. Left out if it runs all consumers. */
  readonly refusalOf?: (contract: System["contracts"][number]) => Diagnostic | null;
}
