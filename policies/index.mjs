// Pulumi compiles the entry of a pack itself, and cannot load a TypeScript module that imports others. Node can.
import "./pack.ts";
