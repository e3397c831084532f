// Pulumi compiles the entry of a pack itself, and knows nothing of a module of TypeScript that imports others; Node does.
import "./pack.ts";
