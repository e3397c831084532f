import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** Tags of ASN.1. Source: ITU-T X.690. */
const tags = { integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, utf8: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 };

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, ...long]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(tags.sequence, ...parts);
const oid = (hex: string): Buffer => tagged(tags.oid, Buffer.from(hex, "hex"));

/** 1.2.840.10045.4.3.2 */
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
/** 2.5.4.3 */
const commonName = oid("550403");
/** 2.5.29.17 */
const subjectAltName = oid("551d11");

/** A self-signed certificate for a host, valid for a day. Source of the fields: RFC 5280. */
export function selfSigned(host: string): { readonly certificate: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(tagged(tags.set, sequence(commonName, tagged(tags.utf8, Buffer.from(host)))));
  const dayMs = 86_400_000;
  const [from, until] = [-dayMs, dayMs].map((awayMs) => {
    const digits = new Date(Date.now() + awayMs).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
    return tagged(tags.time, Buffer.from(digits.slice(2)));
  }) as [Buffer, Buffer];
  const names = sequence(subjectAltName, tagged(tags.octets, sequence(tagged(0x82, Buffer.from(host)))));
  const signed = sequence(
    tagged(0xa0, tagged(tags.integer, Buffer.from([2]))),
    tagged(tags.integer, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    name,
    sequence(from, until),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(names)),
  );
  const signature = tagged(tags.bits, Buffer.from([0]), sign("sha256", signed, privateKey));
  const text = sequence(signed, ecdsaWithSha256, signature).toString("base64").replaceAll(/.{64}/g, "$&\n");
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
