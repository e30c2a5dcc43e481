/** Keys as cosign writes them, and signatures that it and we accept. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleFromJSON } from "@sigstore/bundle";
import { PublicKeyDetails, TrustedRoot } from "@sigstore/protobuf-specs";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { describe, expect, test } from "vitest";
import { readAttestations } from "../../../host/sources/npm/npm.ts";
import { certifiedSigner, readTrustedRoot } from "../../../host/trust/certificate.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import { readPublicKey } from "../../../host/trust/public-key.ts";
import { signBundle, signFile, signSimple } from "../../../host/trust/signer.ts";
import { generateKeyPair, readSigningKey } from "../../../host/trust/signing-key.ts";
import { createKey, hash, type TestKey } from "../../support/signatures/cosign.ts";

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/signatures/${name}`, import.meta.url), "utf8");
const never = () => Promise.reject(new Error("no password was needed"));
const pemOf = ({ privateKey }: TestKey) => privateKey.export({ type: "pkcs8", format: "pem" }).toString();

describe("a signing key", () => {
  test("is opened as cosign wrote it, with its password and no other", async () => {
    const text = fixture("cosign-test.key");
    const key = await readSigningKey(text, async () => "hello");
    expect(key.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    await expect(readSigningKey(text, async () => "wrong")).rejects.toThrow(
      "does not open with this password",
    );
    await expect(readSigningKey(text, async () => undefined)).rejects.toThrow(
      "does not open with this password",
    );
  });

  test("is made in the same form", async () => {
    const { privatePem, publicPem, fingerprint } = await generateKeyPair("p");
    expect(privatePem).toMatch(/^-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n/);
    expect(publicPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(await readSigningKey(privatePem, async () => "p")).toMatchObject({ fingerprint });
  });

  test("that cannot be used is a sentence", async () => {
    const damaged = fixture("cosign-test.key").replace("eyJr", "AAAA");
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const cases = [
      [createKey().pem, "is a public key"],
      ["hello", "is not a private key"],
      [damaged, "is damaged"],
      ["x".repeat(20_000), "has more than 16384 characters"],
      [short.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "RSA key of 2048 bits"],
    ] as const;
    for (const [text, sentence] of cases)
      await expect(readSigningKey(text, async () => "hello")).rejects.toThrow(sentence);
    expect(() => readPublicKey(pemOf(createKey()))).toThrow("is a private key; give the public key");
    expect(() => readPublicKey("hello")).toThrow('has no "BEGIN PUBLIC KEY" block');
  });
});

test.each(["ecdsa", "rsa", "ed25519"] as const)("what an %s key signs is verified with it", async (type) => {
  const test = createKey(type);
  const key = await readSigningKey(pemOf(test), never);
  const subject = Buffer.from("{}");
  const sha256 = hash("sha256", subject).toString("hex");
  const judge = createJudge({
    matching: async () => [
      {
        id: "",
        pattern: "oci://*",
        addedAt: "",
        signer: { type: "key", pem: test.pem, fingerprint: test.fingerprint },
      },
    ],
  });
  const origin = { kind: "oci", reference: "oci://registry.example/t:1", digest: "" } as const;
  const forms = [
    { bundles: [await signBundle(key, sha256)], simple: [] },
    { bundles: [await signFile(key, subject)], simple: [] },
    { bundles: [], simple: [await signSimple(key, sha256, "registry.example/t")] },
  ];
  for (const form of forms) {
    expect(await judge(origin, { subject, ...form })).toMatchObject({ status: "signed" });
    expect(await judge(origin, { subject: Buffer.from("[]"), ...form })).toMatchObject({ status: "refused" });
  }
});

test("what we sign, Sigstore's own library verifies with the key", async () => {
  const test = createKey();
  const key = await readSigningKey(pemOf(test), never);
  const subject = Buffer.from("{}");
  const verifier = new Verifier(
    toTrustMaterial(TrustedRoot.fromJSON({}), {
      [key.hint]: {
        rawBytes: test.publicKey.export({ type: "spki", format: "der" }),
        keyDetails: PublicKeyDetails.PKIX_ECDSA_P256_SHA_256,
      },
    }),
    { tlogThreshold: 0, timestampThreshold: 0, ctlogThreshold: 0 },
  );
  const verify = (bundle: Buffer) =>
    verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundle.toString())), subject));
  for (const bundle of [
    await signBundle(key, hash("sha256", subject).toString("hex")),
    await signFile(key, subject),
  ])
    expect(verify(bundle).key).toBeDefined();
});

test("a bundle that cosign made with the public Sigstore holds against the root that Postern ships", () => {
  const bundle = bundleFromJSON(JSON.parse(fixture("public-sigstore.sigstore.json")));
  const signature = {
    signed: Buffer.alloc(0),
    value: Buffer.alloc(0),
    certified: { bundle, artifact: undefined },
  };
  expect(certifiedSigner(signature, readTrustedRoot(undefined))).toEqual({
    type: "identity",
    subject: "cody@soyland.com",
    issuer: "https://github.com/login/oauth",
  });
});

test("a trusted root that cannot be used is a sentence", () => {
  for (const [text, sentence] of [
    ["hello", "cannot be read"],
    ["{}", "names no certificate authority"],
    ["[]", "names no certificate authority"],
    ['{"tlogs":[{}]}', "cannot be read"],
    ["x".repeat(1024 * 1024 + 1), "has more than"],
  ] as const)
    expect(() => readTrustedRoot(text)).toThrow(sentence);
});

test("of what a registry says about a package, only who built it is taken for a signature", () => {
  const PROVENANCE = "https://slsa.dev/provenance/v1";
  const answer = {
    attestations: [
      { predicateType: "https://github.com/npm/attestation/tree/main/specs/publish/v0.1", bundle: { a: 1 } },
      { predicateType: PROVENANCE, bundle: { b: 2 } },
      { predicateType: PROVENANCE },
      null,
    ],
  };
  const read = (value: unknown) =>
    readAttestations(Buffer.from(JSON.stringify(value))).map((bundle) => Buffer.from(bundle).toString());
  expect(read(answer)).toEqual(['{"b":2}', "null"]);
  for (const other of [null, [], {}, "x", { attestations: "x" }, { attestations: [1, "x"] }])
    expect(read(other)).toEqual([]);
  expect(readAttestations(Buffer.from("{"))).toEqual([]);
});
