import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask } from "../../../kernel/mask/mask.ts";
import { redact } from "../../../kernel/mask/redact.ts";
import { createRedactStream } from "../../../plugins/agent/turn/answer/redact-stream.ts";

const KEY_BLOCK = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ
-----END OPENSSH PRIVATE KEY-----`;

// Put together here, so that no scanner takes this file for a leak.
const SHAPED = {
  "an API key": `sk-${"a1B2".repeat(8)}`,
  "a project key": `sk-proj-${"a1B2_".repeat(8)}`,
  "a GitHub token": `ghp_${"x9".repeat(18)}`,
  "an AWS key id": `AKIA${"ABCD1234".repeat(2)}`,
  "a Slack token": `xoxb-${"1234-".repeat(6)}abc`,
  "a JWT": `eyJ${"hbGciOi".repeat(3)}.eyJ${"zdWIiOi".repeat(3)}.${"c2lnbmF0".repeat(4)}`,
  "a private key": KEY_BLOCK,
};

function streamed(mask: ReturnType<typeof createMask>, deltas: readonly string[]): string {
  const stream = createRedactStream(mask);
  return deltas.map((delta) => stream.push(delta)).join("") + stream.end();
}

describe("redaction", () => {
  test.each(Object.entries(SHAPED))("hides %s by its shape", (_name, secret) => {
    expect(redact(createMask(), `before ${secret} after`)).toBe("before [redacted] after");
    expect(redact(createMask(), `key="${secret}",`)).toBe('key="[redacted]",');
  });

  test("hides known values, whatever their shape", () => {
    const mask = createMask();
    mask.add("correct horse battery");
    expect(redact(mask, "It is correct horse battery, I think.")).toBe("It is [secret], I think.");
  });

  test.each([
    "My password is the name of my dog; how do I change a password?",
    "Put the key into ~/.ssh/authorized_keys and chmod 600 ~/.ssh/id_ed25519.",
    "sk-learn is a library, sk-8 a vitamin, and risk-averse-people-are-many a string.",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "git commit 3f2504e04f8911d39a0c0305e82c3301aaaaaaaa",
    "550e8400-e29b-41d4-a716-446655440000",
    "The api_key parameter takes your API key; Authorization: Bearer <token>.",
    "---\ntitle: eyJ is how JWTs begin\n-----",
  ])("lets ordinary text pass: %s", (text) => {
    expect(redact(createMask(), text)).toBe(text);
    expect(streamed(createMask(), [...text])).toBe(text);
  });
});

test("a token is hidden between other words of a dotted name, and several in a row", () => {
  const token = SHAPED["a JWT"];
  expect(redact(createMask(), `v1.x-${token}.rest ${token}.${token}`)).toBe(
    "v1.x-[redacted].rest [redacted].[redacted]",
  );
});

test.each([
  "-eyJ",
  "-eyJaaaaaaaa.",
  "eyJaaaaaaaaa.eyJ",
  ".eyJ-",
  "a.",
  "-SG.",
  "-sk-",
  "-----BEGIN ",
  "-----BEGIN A ",
  "-----BEGIN PRIVATE KEY-----",
  "-",
])("a megabyte of %j is read in one go", (unit) => {
  // Anything worse than linear would take minutes here.
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
  expect(redact(createMask(), text).length).toBeLessThanOrEqual(text.length);
});

describe("redaction of a stream", () => {
  test("gives the same text however it is cut, and no secret slips through between two pieces", () => {
    const mask = createMask();
    mask.add("hunter2hunter");
    mask.add("xyzkeyxyz");
    const parts = ["plain words, ", "hunter2hunter", "xyzkeyxyz", "xyzkeyx", " ", "-----", "h", "\n"];
    const pieces = fc.array(fc.constantFrom(...parts, ...Object.values(SHAPED)), { maxLength: 6 });
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 60 }), { maxLength: 60 }), (texts, cuts) => {
        const text = texts.join(" ");
        const deltas: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          deltas.push(text.slice(at, at + cut));
          at += cut;
        }
        deltas.push(text.slice(at));
        expect(streamed(mask, deltas)).toBe(redact(mask, text));
      }),
    );
  });

  test("does not delay ordinary text, with secrets known or without", () => {
    const mask = createMask();
    mask.add("Zq9#secret-value");
    const stream = createRedactStream(mask);
    for (const delta of ["The weather ", "in Berlin", " is fine", ", 21 degrees."]) {
      expect(stream.push(delta)).toBe(delta);
    }
  });

  test("holds back only what may become a secret, and lets it go when it does not", () => {
    const mask = createMask();
    mask.add("swordfish-42");
    const stream = createRedactStream(mask);
    expect(stream.push("a sword")).toBe("a ");
    expect(stream.push("sman")).toBe("swordsman");
    expect(stream.push(" said: swordfish")).toBe(" said: ");
    expect(stream.push("-42!")).toBe("[secret]!");
  });

  test("a key without an end is neither shown nor held for ever", () => {
    const stream = createRedactStream(createMask());
    let shown = stream.push("sk-");
    for (let count = 0; count < 3000; count++) shown += stream.push("abcdefghij");
    shown += stream.push(" done");
    expect(shown + stream.end()).toBe("[redacted] done");
  });
});
