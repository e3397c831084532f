import { expect, test } from "vitest";
import { z } from "zod";

import { type EditableLetter, type Editor, differencesBetween, editLetter } from "../../src/operate/edit.ts";
import { factsOf } from "../../src/operate/facts.ts";
import type { Letter } from "../../src/operate/letter.ts";

const place = { position: 1, exchange: "", routingKey: "q", redelivered: false };

function letterOf(body: string | Uint8Array, headers: Letter["headers"] = {}, messageId?: string): Letter {
  return { ...place, headers, properties: messageId === undefined ? {} : { messageId }, body: Buffer.from(body) };
}

const edited = (letter: Letter, edit: (each: EditableLetter) => unknown, schema: Editor["schema"] = null) =>
  editLetter(letter, factsOf(letter, {}), { edit, schema });

const textIn = (letter: Letter | null): string => Buffer.from(letter?.body ?? []).toString();

test("a function changes a JSON body, bytes and headers, and cannot change the letter itself", () => {
  const bytes = Buffer.from([0, 255]);
  const letter = letterOf('{"zip": 123, "ok": true}', { a: "1", bytes, n: 2 }, "m1");
  const changed = edited(letter, ({ body, headers }) => {
    Object.assign(body as object, { zip: "00123" });
    return { body, headers: { ...headers, a: "2", more: "x" } };
  });
  expect([textIn(changed), changed?.headers]).toMatchObject(['{"zip":"00123","ok":true}', { a: "2", more: "x", n: 2 }]);
  expect([textIn(letter), letter.headers]).toEqual(['{"zip": 123, "ok": true}', { a: "1", bytes, n: 2 }]);
  expect(differencesBetween(letter, changed as Letter)).toEqual([
    'body.zip: 123 → "00123"',
    'headers.a: "1" → "2"',
    'headers.more: nothing → "x"',
  ]);
  expect(edited(letterOf(bytes), ({ body }) => ({ body: Buffer.concat([body as Buffer, bytes]) }))?.body).toEqual(
    Buffer.from([0, 255, 0, 255]),
  );
});

test("a letter that stays as it is keeps its bytes, and is not sent", () => {
  const letter = letterOf('{ "a":  1 }', { bytes: Buffer.from([1]) });
  for (const edit of [
    () => null,
    () => ({}),
    (each: EditableLetter) => each.body === undefined || { headers: each.headers },
  ])
    expect(edited(letter, edit as () => unknown)).toBeNull();
  const changed = edited(letter, ({ headers }) => ({ headers: { ...headers, a: "b" } }));
  expect(textIn(changed)).toBe('{ "a":  1 }');
});

test("an integer that JavaScript would change reaches the function as bytes, and never through JSON", () => {
  const text = '{"amount":12345678901234567890}';
  const seen: unknown[] = [];
  const edit = ({ body }: EditableLetter): object => {
    seen.push(body);
    return { headers: { a: "b" } };
  };
  expect(edited(letterOf(text), edit)).toMatchObject({ body: Buffer.from(text) });
  expect(seen).toEqual([new Uint8Array(Buffer.from(text))]);
  expect(() => edited(letterOf(text), () => ({ headers: { a: "b" } }), z.object({}))).toThrow("53 bits");
});

test.for<readonly [answer: unknown, message: string]>([
  [undefined, "no object"],
  [{ body: {}, key: 1 }, "gives key"],
  [Promise.resolve(null), "synchronous"],
  [{ body: { at: new Date(0) } }, "plain JSON"],
  [{ body: Number.NaN }, "plain JSON"],
  [{ headers: { a: 1 } }, "keeps its type"],
  [{ headers: { fresh: 1 } }, "a new one is a text"],
  [{ headers: [] }, "no object"],
  [{ headers: { a: "\uFFFD" } }, "not UTF-8"],
])("an answer that is no letter is refused: %j", ([answer, message]) => {
  expect(() => edited(letterOf("{}", { a: "1" }), () => answer)).toThrow(message);
});

test("a schema judges the new body, and says where it is wrong", () => {
  const schema = z.object({ order: z.object({ zip: z.string() }) });
  const letter = letterOf('{"order":{"zip":1}}', {}, "m1");
  expect(() => edited(letter, () => ({ headers: { a: "b" } }), schema)).toThrow(/order\.zip.*string/);
  expect(textIn(edited(letter, () => ({ body: { order: { zip: "1" } } }), schema))).toBe('{"order":{"zip":"1"}}');
  const slow = z.object({}).refine(async () => true);
  expect(() => edited(letter, () => ({ body: {} }), slow)).toThrow();
});

test("the new id is the same for the same change of one letter, and another for any other", () => {
  const idOf = (letter: Letter, more: string): unknown =>
    edited(letter, () => ({ body: { more } }))?.properties["messageId"];
  const one = letterOf("{}", {}, "m1");
  expect(idOf(one, "a")).toBe(idOf({ ...one, position: 9 }, "a"));
  const ids = [idOf(one, "a"), idOf(one, "b"), idOf(letterOf("{}", {}, "m2"), "a"), "m1"];
  expect(new Set(ids).size).toBe(4);
  // Two letters without an id may be equal, and a guard must not take one for the other.
  expect(idOf(letterOf("{}"), "a")).not.toBe(idOf(letterOf("{}"), "a"));
});

test("the new id is the same after the broker has counted a look and ordered the headers", () => {
  const idOf = (headers: Letter["headers"]): unknown =>
    edited(letterOf("{}", headers, "m1"), ({ headers: all }) => ({ headers: { ...all, fresh: "c" } }))?.properties[
      "messageId"
    ];
  const first = idOf({ b: "b", a: "a" });
  expect(first).toBeDefined();
  expect(idOf({ a: "a", b: "b", "x-delivery-count": 2, "x-acquired-count": 3 })).toBe(first);
  expect(idOf({ a: "a", b: "c" })).not.toBe(first);
});
