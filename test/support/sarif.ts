import { z } from "zod";

// The objects of SARIF 2.1.0 that Redeliver writes, as the specification defines them
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html). The official schema has a hundred kilobytes and
// no rules between objects. So this file has the used part. It is strict, so that it notices any other property.

const index = z.int().min(0);
/** §3.4.3, RFC 3986: no blank, no letter beyond ASCII, no backslash, and a percent sign only before two digits. */
const uriReference = z.string().regex(/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-F]{2})+$/);
/** §3.11.5: a single brace belongs to a placeholder. */
const messageText = z
  .string()
  .min(1)
  .refine((text) => !/[{}]/.test(text.replaceAll("{{", "").replaceAll("}}", "")), "a brace that is not doubled")
  // §3.11.6: an embedded link is [text](target).
  .refine((text) => !/(?<!\\)\]\(/.test(text), "an embedded link");
const level = z.enum(["none", "note", "warning", "error"]);
/** §3.30: lines and columns from 1, the end not before the start. */
const region = z
  .strictObject({
    startLine: z.int().min(1),
    startColumn: z.int().min(1).optional(),
    endLine: z.int().min(1).optional(),
    endColumn: z.int().min(1).optional(),
  })
  .refine(({ startLine, endLine = startLine }) => endLine >= startLine, "it ends before it starts")
  .refine(
    ({ startLine, endLine = startLine, startColumn = 1, endColumn = Number.MAX_SAFE_INTEGER }) =>
      endLine > startLine || endColumn >= startColumn,
    "it ends before it starts",
  );
const multiformatMessage = z.strictObject({ text: z.string().min(1), markdown: z.string().min(1).optional() });
const rule = z.strictObject({
  id: z.string().min(1),
  shortDescription: multiformatMessage,
  fullDescription: multiformatMessage,
  help: multiformatMessage,
  // §3.49.12: an absolute address.
  helpUri: z.url(),
  defaultConfiguration: z.strictObject({ level }),
  // §3.8.2: tags are the one property that every bag may have.
  properties: z.strictObject({ tags: z.array(z.string().min(1)).min(1) }).optional(),
});
const location = z
  .strictObject({
    physicalLocation: z.strictObject({ artifactLocation: z.strictObject({ uri: uriReference }), region }).optional(),
    logicalLocations: z
      .array(z.strictObject({ fullyQualifiedName: z.string().min(1) }))
      .min(1)
      .optional(),
  })
  .refine((each) => Object.keys(each).length > 0, "a location that is nowhere");
const result = z.strictObject({
  ruleId: z.string(),
  ruleIndex: index,
  level,
  message: z.strictObject({ text: messageText }),
  locations: z.array(location),
  partialFingerprints: z.record(z.string(), z.string()),
});
const run = z
  .strictObject({
    tool: z.strictObject({
      driver: z.strictObject({
        name: z.string().min(1),
        version: z.string().optional(),
        semanticVersion: z.string().optional(),
        rules: z.array(rule),
      }),
    }),
    columnKind: z.enum(["utf16CodeUnits", "unicodeCodePoints"]),
    results: z.array(result),
  })
  // §3.27.6: the index leads to the rule with that id. Rules without a result are not listed.
  .refine(({ tool, results }) => results.every((each) => tool.driver.rules[each.ruleIndex]?.id === each.ruleId))
  .refine(({ tool, results }) => tool.driver.rules.every(({ id }) => results.some((each) => each.ruleId === id)))
  .refine(({ tool }) => new Set(tool.driver.rules.map(({ id }) => id)).size === tool.driver.rules.length);
const log = z.strictObject({ $schema: z.url(), version: z.literal("2.1.0"), runs: z.array(run).min(1) });

/** Reads a log in SARIF 2.1.0; throws if it is none. */
export function parseSarif(text: string): z.infer<typeof log> {
  return log.parse(JSON.parse(text));
}
