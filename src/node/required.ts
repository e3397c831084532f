import { nodeProblem } from "./version.ts";

// Each entry of the package imports this first. Otherwise an older Node fails in a later module, on a function that it
// lacks. Pulumi shows an error with this property as its message alone.
if (nodeProblem !== null) throw Object.assign(new Error(nodeProblem), { __pulumiRunError: true });
