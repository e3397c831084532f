import type { Draw } from "./draw.ts";

type Data = unknown;
type Container = Record<string, Data> | Data[];

const isContainer = (value: Data): value is Container => typeof value === "object" && value !== null;

/** Keys with a meaning for JavaScript, a regular expression or a terminal. */
const oddKeys = [
  "__proto__",
  "constructor",
  "toString",
  "prototype",
  "hasOwnProperty",
  "then",
  "toJSON",
  "valueOf",
].concat([
  "length",
  "",
  " ",
  "a.b",
  "a[0]",
  "0",
  "-1",
  "\u0000",
  "\u001b[31m",
  "\ud800",
  "\u2028",
  "\u202e",
  "ä",
  "$ref",
  "<<",
]);

/** Stands for a text that no data can hold; `asText` inserts the real one. */
const raw = (name: string): string => `\u0001${name}\u0001`;
const rawTexts: Readonly<Record<string, () => string>> = {
  deepLists: () => "[".repeat(20_000) + "]".repeat(20_000),
  deepMappings: () => '{"a":'.repeat(20_000) + "1" + "}".repeat(20_000),
  huge: () => "1e400",
  tiny: () => "-1e-400",
  long: () => "9".repeat(5_000),
  proto: () => '{"__proto__":{"from":{}},"constructor":1}',
  twice: () => '{"a":1,"a":2}',
};
const yamlTexts: Readonly<Record<string, () => string>> = {
  ring: () => "&ring [ *ring ]",
  mappingRing: () => "&ring { a: *ring }",
  laughs: () => `[ &a [x,x,x,x,x,x,x,x], &b [*a,*a,*a,*a,*a,*a], &c [*b,*b,*b,*b,*b,*b], [*c,*c,*c,*c,*c,*c] ]`,
  nowhere: () => "*nowhere",
  tag: () => "!!binary aGVsbG8=",
  set: () => "!!set { a, b }",
  date: () => "2026-01-01T00:00:00Z",
  mappingKey: () => "{ ? { a: b } : c, ? [ d ] : e }",
  merge: () => "{ <<: { a: b } }",
  infinity: () => ".inf",
  nan: () => ".nan",
};

function oddValue(draw: Draw, extension: string): Data {
  const texts = extension === "yaml" ? [...Object.keys(rawTexts), ...Object.keys(yamlTexts)] : Object.keys(rawTexts);
  return draw.of<() => Data>([
    () => draw.of([null, true, false, 0, -1, 1, 0.5, 2 ** 31, 2 ** 53, 1e21, 1e308, -0]),
    () =>
      draw.of([
        "",
        " ",
        "0",
        "-1s",
        "1e9d",
        "99999999999999999999d",
        "P5M",
        "%",
        "[",
        "[concat(",
        "(?:",
        "*",
        "#",
        "a.#.b",
      ]),
    () => draw.of(oddKeys),
    () => "x".repeat(draw.of([256, 70_000, 2_000_000])),
    () => "\ud800\udfff\u0000\u001b]0;x\u0007",
    () => draw.of<Data>([[], {}, [[]], [null], { "": null }, [[], {}], ["a", "a"]]),
    () => Array.from({ length: draw.of([1_000, 20_000]) }, (_, index) => draw.of<Data>([index, {}, `n${index}`])),
    () => Object.fromEntries(Array.from({ length: draw.of([1_000, 5_000]) }, (_, index) => [`k${index}`, null])),
    () => raw(draw.of(texts)),
    () => raw(draw.of(texts)),
  ])();
}

/** Every place in the data: its container and its key. */
function placesIn(data: Data): readonly (readonly [Container, string])[] {
  const found: (readonly [Container, string])[] = [];
  const open: Data[] = [data];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (!isContainer(value)) continue;
    for (const key of Object.keys(value)) {
      found.push([value, key]);
      open.push((value as Record<string, Data>)[key]);
    }
  }
  return found;
}

const put = (holder: Container, key: string, value: Data): void => {
  // A plain assignment of __proto__ would set the prototype, and the file would not have the key.
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
};

/** Changes a copy of the data in one place or in a few. */
export function mutated(valid: Data, draw: Draw, odd: (draw: Draw) => Data): Data {
  const whole = { data: structuredClone(valid) };
  const places = placesIn(whole);
  const donors = placesIn({ data: valid }).map(([holder, key]) => (holder as Record<string, Data>)[key]);
  for (let times = 1 + draw.below(3); times > 0; times--) {
    const [holder, key] = draw.of(draw.below(20) === 0 ? places.slice(0, 1) : places);
    const value = (holder as Record<string, Data>)[key];
    const renamed = Array.isArray(holder) || holder === whole ? key : draw.of(oddKeys);
    draw.of<() => void>([
      () => put(holder, key, odd(draw)),
      () => put(holder, key, odd(draw)),
      () => void Reflect.deleteProperty(holder, key),
      () => put(holder, renamed, value),
      () => put(holder, renamed, odd(draw)),
      () => put(holder, key, [value]),
      () => put(holder, key, { [draw.of(oddKeys)]: value }),
      // Puts a part of one place into another: correct forms in a wrong place.
      () => put(holder, key, structuredClone(draw.of(donors))),
    ])();
  }
  return whole.data;
}

/** A file from a mutation of valid data: odd values in it, or an odd text altogether. */
export function mutatedFile(valid: Data, draw: Draw, extension: string): Buffer {
  const isWhole = draw.below(4) === 0;
  const data = isWhole ? valid : mutated(valid, draw, () => oddValue(draw, extension));
  const known = { ...rawTexts, ...yamlTexts };
  const text = (JSON.stringify(data) ?? "").replaceAll(/"\\u0001(\w+)\\u0001"(:?)/g, (_, name: string, colon: string) =>
    colon === "" ? (known[name]?.() ?? "null") : `"${name}":`,
  );
  return isWhole ? oddFile(text, draw) : Buffer.from(text);
}

function oddFile(text: string, draw: Draw): Buffer {
  const at = draw.below(text.length + 1);
  const insert = (piece: string): Buffer => Buffer.from(text.slice(0, at) + piece + text.slice(at));
  return draw.of<() => Buffer>([
    () => Buffer.from(text.slice(0, at)),
    () => Buffer.from(text.slice(at)),
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(`\ufeff${text}`, "utf16le"),
    () => Buffer.from(text.slice(0, at), "utf16le"),
    () => Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0])]),
    () => insert(draw.of(["\u0000", "\u001b[2J", "\u0008", "\u2028", "\ufffe", "\u0085", "\t", "\r"])),
    () =>
      insert(draw.of(["{", "[", '"', "}", "]", ",", ":", "&a", "*a", "---\n", "...\n", "%YAML 9.9\n", "!!", "|", ">"])),
    () => insert(draw.of(Object.values({ ...rawTexts, ...yamlTexts }))()),
    () => Buffer.from(text.replaceAll(/"([^"]*)":/g, '"$1":null,"$1":')),
    () => Buffer.from("[".repeat(20_000)),
    () => Buffer.from("- ".repeat(20_000)),
    () => Buffer.from(Array.from({ length: 2_000 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")),
    () => Buffer.from(draw.of(["", "\n", "null", "0", '""', "[]", "{}", "---", "# a", "~", "\ufeff", "\u0000"])),
    () => Buffer.from(Array.from({ length: 10_000 }, () => draw.below(256))),
  ])();
}
