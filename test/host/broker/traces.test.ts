import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSecretMatcher } from "../../../host/broker/traces.ts";
import { DISGUISES } from "../../support/secret-forms.ts";

describe("disguises", () => {
  const VALUE = "Kq7-2wZ9/pLx0_fT4=vB8nR3sY6";
  const { discloses } = createSecretMatcher(["another-secret-value", VALUE]);
  const around = (middle: string | Buffer, filler: string) =>
    Buffer.concat([Buffer.from(filler), Buffer.from(middle), Buffer.from(filler)]);

  test.each(Object.entries(DISGUISES))(
    "a value %s is found, alone and among much else",
    async (_, disguise) => {
      expect(await discloses(Buffer.from(disguise(VALUE)))).toBe(true);
      expect(
        await discloses(
          around(disguise(VALUE), " - ordinary words, 100% of them &amp; more - ".repeat(3500)),
        ),
      ).toBe(true);
    },
  );

  test("a value in a zlib stream is found where the content is one", async () => {
    expect(await discloses(deflateSync(VALUE))).toBe(true);
  });

  test("ordinary content shows nothing", async () => {
    for (const text of [
      "",
      "Kq7 and 2wZ9 and pLx0",
      JSON.stringify({
        id: "0123456789abcdef",
        url: "https://example.com/%7Euser?a=b&amp;c=d",
        text: "caf\\u00e9",
      }),
      Buffer.from("some other file").toString("base64").repeat(1000),
      "a".repeat(1_000_000),
    ])
      expect(await discloses(Buffer.from(text))).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        expect(await discloses(bytes)).toBe(false);
      }),
    );
  });

  test("a long value in base64 does not make others with the same beginning suspicious", async () => {
    const token = (body: string) =>
      `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.${Buffer.from(body).toString("base64url")}.c2ln`;
    const matcher = createSecretMatcher([token(JSON.stringify({ sub: "ann", exp: 1, note: "one of hers" }))]);
    expect(
      await matcher.discloses(Buffer.from(token(JSON.stringify({ who: "bob", iat: 7, more: true })))),
    ).toBe(false);
  });
});
