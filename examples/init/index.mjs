// Pulumi starts this file, because an older Node cannot read index.ts: the package says which Node it needs.
import "redeliver";

export default await import("./index.ts");
