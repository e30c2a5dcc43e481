/** Who signed, by key or by certificate, and what the operator's rules make of it. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Evidence } from "../../../host/trust/evidence.ts";
import { createJudge } from "../../../host/trust/judge.ts";
import type { NamedSigner } from "../../../host/trust/rules.ts";
import {
  blobBundle,
  createKey,
  hash,
  keyBundle,
  simplePayload,
  simpleSignature,
  type TestKey,
} from "../../support/signatures/cosign.ts";
import { createSigstore, serialize, type TestSigstore } from "../../support/signatures/sigstore.ts";

const MANIFEST = Buffer.from('{"schemaVersion":2,"layers":[]}');
const OTHER = Buffer.from('{"schemaVersion":2,"layers":[1]}');
const PATTERN = "oci://registry.example/acme/*";
const ORIGIN = {
  kind: "oci",
  reference: "oci://registry.example/acme/tool:1",
  digest: `sha256:${hash("sha256", MANIFEST).toString("hex")}`,
} as const;
const RELEASE = {
  subject: "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1",
  issuer: "https://token.actions.githubusercontent.com",
};

const named = ({ pem, fingerprint }: TestKey): NamedSigner => ({ type: "key", pem, fingerprint });
const evidenceOf = (parts: Partial<Evidence>): Evidence => ({
  subject: MANIFEST,
  bundles: [],
  simple: [],
  ...parts,
});
const judge = (evidence: Evidence | undefined, ...signers: NamedSigner[]) =>
  createJudge({
    matching: async () =>
      signers.map((signer, index) => ({ id: `${index}`, pattern: PATTERN, signer, addedAt: "" })),
  })(ORIGIN, evidence);

describe("with a key", () => {
  test.each(["ecdsa", "rsa", "ed25519"] as const)(
    "a signature of version 2 and one of version 3 hold for an %s key, and for no other",
    async (type) => {
      const key = createKey(type);
      const expected = { status: "signed", signer: `the key SHA256:${key.fingerprint}` };
      const forms = [
        { simple: [simpleSignature(MANIFEST, key)] },
        { bundles: [keyBundle(MANIFEST, key)] },
        { bundles: [blobBundle(MANIFEST, key)] },
      ];
      for (const form of forms) {
        expect(await judge(evidenceOf(form), named(key))).toMatchObject(expected);
        const refused = await judge(evidenceOf(form), named(createKey(type)));
        expect(refused).toMatchObject({ status: "refused" });
        expect(refused.sentence).toContain("a signature was made with another key");
        expect(refused.signer).toBeUndefined();
      }
    },
  );

  test("one of several signatures, and one of several rules, is enough", async () => {
    const [key, other] = [createKey(), createKey()];
    const evidence = evidenceOf({
      bundles: [Buffer.from("{"), keyBundle(OTHER, key), keyBundle(MANIFEST, key)],
      simple: [simpleSignature(MANIFEST, createKey())],
    });
    expect(await judge(evidence, named(other), named(key))).toMatchObject({ status: "signed" });
  });

  test("a signature for other content does not count, in any form", async () => {
    const key = createKey();
    const digest = hash("sha256", OTHER).toString("hex");
    const swapped = { ...simpleSignature(OTHER, key), payload: simplePayload(MANIFEST) };
    const cases: [Partial<Evidence>, string][] = [
      [{ simple: [simpleSignature(OTHER, key)] }, `about other content (sha256:${digest})`],
      [{ bundles: [keyBundle(OTHER, key)] }, `about other content (sha256:${digest})`],
      [{ bundles: [blobBundle(OTHER, key)] }, "about other content"],
      // The payload says the right digest, and another one was signed.
      [{ simple: [swapped] }, "made with another key"],
    ];
    for (const [form, sentence] of cases) {
      const verdict = await judge(evidenceOf(form), named(key));
      expect(verdict).toMatchObject({ status: "refused" });
      expect(verdict.sentence).toContain(sentence);
    }
  });

  test("a signed statement that does not say who made the tool does not count", async () => {
    const key = createKey();
    const scan = keyBundle(MANIFEST, key, {
      predicateType: "https://cosign.sigstore.dev/attestation/vuln/v1",
    });
    expect((await judge(evidenceOf({ bundles: [scan] }), named(key))).sentence).toContain(
      "does not say who made the tool",
    );
    const typed = keyBundle(MANIFEST, key, { payloadType: "text/plain" });
    expect((await judge(evidenceOf({ bundles: [typed] }), named(key))).sentence).toContain(
      "not an in-toto statement",
    );
    const provenance = keyBundle(MANIFEST, key, {
      predicateType: "https://slsa.dev/provenance/v1",
      digest: { sha512: hash("sha512", MANIFEST).toString("hex") },
    });
    expect(await judge(evidenceOf({ bundles: [provenance] }), named(key))).toMatchObject({
      status: "signed",
    });
  });

  test("a signature does not count for a tool that needs more than what was signed", async () => {
    const key = createKey();
    const evidence = {
      ...evidenceOf({ bundles: [blobBundle(MANIFEST, key)] }),
      uncovered: "x.capabilities.json",
    };
    const refused = await judge(evidence, named(key));
    expect(refused).toMatchObject({ status: "refused" });
    expect(refused.sentence).toContain("does not cover x.capabilities.json");
    expect(await judge(evidence)).toMatchObject({ status: "unsigned" });
  });
});

describe("what a stranger may send", () => {
  const key = createKey();

  test.each<[string, Uint8Array, string]>([
    ["not JSON", Buffer.from("hello"), "is not JSON, or is cut off"],
    ["cut off", keyBundle(MANIFEST, key).subarray(0, 300), "is not JSON, or is cut off"],
    ["of another kind", Buffer.from("[]"), "cannot be read"],
    ["empty", Buffer.from("{}"), "cannot be read"],
    ["null", Buffer.from("null"), "cannot be read"],
    ["huge", Buffer.alloc(257 * 1024, 32), "larger than 256 KB"],
    ["deeply nested", Buffer.from("[".repeat(100_000)), "is not JSON"],
    [
      "with a text where a list belongs",
      Buffer.from(
        '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{"signatures":"x"}}',
      ),
      "cannot be read",
    ],
  ])("a bundle that is %s is a sentence", async (_what, bundle, sentence) => {
    const refused = await judge(evidenceOf({ bundles: [bundle] }), named(key));
    expect(refused).toMatchObject({ status: "refused" });
    expect(refused.sentence).toContain(sentence);
    expect(await judge(evidenceOf({ bundles: [bundle] }))).toMatchObject({ status: "unsigned" });
  });

  test("only so many signatures are looked at", async () => {
    const foreign = Array.from({ length: 40 }, () => keyBundle(OTHER, key));
    const refused = await judge(evidenceOf({ bundles: [...foreign, keyBundle(MANIFEST, key)] }), named(key));
    expect(refused).toMatchObject({ status: "refused" });
  });

  test("a .sig layer without a signature, or with a payload of another type, is a sentence", async () => {
    const empty = { payload: simplePayload(MANIFEST), annotations: {} };
    expect((await judge(evidenceOf({ simple: [empty] }), named(key))).sentence).toContain("has no signature");
    const payload = Buffer.from('{"critical":{"type":"another"}}');
    const typed = simpleSignature(MANIFEST, key, payload);
    expect((await judge(evidenceOf({ simple: [typed] }), named(key))).sentence).toContain(
      'a signed payload has the type "another"',
    );
  });
});

describe("with a certificate", () => {
  let sigstore: TestSigstore;
  let byRelease: NamedSigner;

  beforeAll(async () => {
    sigstore = await createSigstore();
    byRelease = { type: "identity", ...RELEASE, trustedRoot: sigstore.trustedRoot };
  });

  test("a signature holds for the identity and issuer that a rule names, in every form", async () => {
    const forms = [
      { bundles: [serialize(await sigstore.bundle(MANIFEST, RELEASE))] },
      { bundles: [serialize(await sigstore.blobBundle(MANIFEST, RELEASE))] },
      { simple: [await sigstore.simple(MANIFEST, RELEASE)] },
    ];
    for (const form of forms) {
      expect(await judge(evidenceOf(form), byRelease)).toMatchObject({
        status: "signed",
        signer: `${RELEASE.subject} (issuer ${RELEASE.issuer})`,
      });
    }
    const anyTag = { ...byRelease, subject: RELEASE.subject.replace("v1", "*") } as NamedSigner;
    expect(await judge(evidenceOf(forms[0] ?? {}), anyTag)).toMatchObject({ status: "signed" });
  });

  test("another identity, another issuer and an identity that only looks alike are refused", async () => {
    const signed = async (identity: Partial<typeof RELEASE>) =>
      evidenceOf({ bundles: [serialize(await sigstore.bundle(MANIFEST, { ...RELEASE, ...identity }))] });
    const lookalike = RELEASE.subject.replace("github.com", "githubXcom");
    for (const identity of [
      { subject: "https://github.com/mallory/tool/.github/workflows/release.yml@refs/tags/v1" },
      { subject: lookalike },
      { subject: `${RELEASE.subject}0` },
      { issuer: "https://accounts.example" },
    ]) {
      const refused = await judge(await signed(identity), byRelease);
      expect(refused).toMatchObject({ status: "refused" });
      expect(refused.sentence).toContain("it is signed by");
    }
  });

  test("another authority, an expired certificate and a missing log entry are refused", async () => {
    const bundle = await sigstore.bundle(MANIFEST, RELEASE);
    const { verificationMaterial } = bundle;
    const unlogged = { ...bundle, verificationMaterial: { ...verificationMaterial, tlogEntries: [] } };
    const unproven = {
      ...bundle,
      verificationMaterial: {
        ...verificationMaterial,
        tlogEntries: verificationMaterial.tlogEntries.map((entry) => ({
          ...entry,
          inclusionProof: undefined,
        })),
      },
    };
    const foreign = await createSigstore();
    const late = await createSigstore({ loggedAt: new Date(Date.now() + 3_600_000) });
    const simple = await sigstore.simple(MANIFEST, RELEASE);
    const { "dev.sigstore.cosign/bundle": _log, ...annotations } = simple.annotations;
    const cases: [Partial<Evidence>, NamedSigner, string][] = [
      [{ bundles: [serialize(unlogged)] }, byRelease, "no valid proof from the transparency log"],
      [{ bundles: [serialize(unproven)] }, byRelease, "cannot be read"],
      [{ simple: [{ ...simple, annotations }] }, byRelease, "no valid proof from the transparency log"],
      [
        { bundles: [serialize(await foreign.bundle(MANIFEST, RELEASE))] },
        byRelease,
        "not from a trusted authority",
      ],
      [
        { bundles: [serialize(await late.bundle(MANIFEST, RELEASE))] },
        { ...byRelease, trustedRoot: late.trustedRoot } as NamedSigner,
        "was not valid when it was used",
      ],
      [{ bundles: [keyBundle(MANIFEST, createKey())] }, byRelease, "has no certificate that names a signer"],
    ];
    for (const [form, rule, sentence] of cases) {
      const refused = await judge(evidenceOf(form), rule);
      expect(refused).toMatchObject({ status: "refused" });
      expect(refused.sentence).toContain(sentence);
    }
  });

  test("a log entry of another signature does not vouch for this one", async () => {
    const [one, two] = [await sigstore.bundle(MANIFEST, RELEASE), await sigstore.bundle(MANIFEST, RELEASE)];
    const mixed = {
      ...one,
      verificationMaterial: {
        ...one.verificationMaterial,
        tlogEntries: two.verificationMaterial.tlogEntries,
      },
    };
    const refused = await judge(evidenceOf({ bundles: [serialize(mixed)] }), byRelease);
    expect(refused).toMatchObject({ status: "refused" });
    expect(refused.sentence).toContain("proof from the transparency log does not hold");
  });

  test("a certificate that is in no log of certificates is refused, unless the trusted root has no such log", async () => {
    const without = await createSigstore({ hasCertificateLog: false });
    const bundles = [serialize(await without.bundle(MANIFEST, RELEASE))];
    const rule = { ...byRelease, trustedRoot: without.trustedRoot } as NamedSigner;
    expect(await judge(evidenceOf({ bundles }), rule)).toMatchObject({ status: "signed" });
    const strict = JSON.parse(without.trustedRoot) as Record<string, unknown>;
    const { ctlogs } = JSON.parse(sigstore.trustedRoot) as { ctlogs: unknown };
    const trustedRoot = JSON.stringify({ ...strict, ctlogs });
    const refused = await judge(evidenceOf({ bundles }), { ...byRelease, trustedRoot } as NamedSigner);
    expect(refused).toMatchObject({ status: "refused" });
  });

  test("no change of one byte makes a signature hold for somebody or something else", async () => {
    const key = createKey();
    const signed: readonly [NamedSigner, Evidence, string][] = [
      [named(key), evidenceOf({ bundles: [keyBundle(MANIFEST, key)] }), `the key SHA256:${key.fingerprint}`],
      [
        named(key),
        evidenceOf({ simple: [simpleSignature(MANIFEST, key)] }),
        `the key SHA256:${key.fingerprint}`,
      ],
      [
        byRelease,
        evidenceOf({ bundles: [serialize(await sigstore.bundle(MANIFEST, RELEASE))] }),
        `${RELEASE.subject} (issuer ${RELEASE.issuer})`,
      ],
    ];
    const flip = (bytes: Uint8Array, at: number, by: number) => {
      const changed = Buffer.from(bytes);
      const index = at % changed.length;
      changed[index] = (changed[index] ?? 0) ^ by;
      return changed;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: signed.length - 1 }),
        fc.nat({ max: 1_000_000 }),
        fc.integer({ min: 1, max: 255 }),
        async (which, at, by) => {
          const [rule, evidence, signer] = signed[which] as (typeof signed)[number];
          const changed = {
            ...evidence,
            bundles: evidence.bundles.map((bundle) => flip(bundle, at, by)),
            simple: evidence.simple.map((entry) => ({ ...entry, payload: flip(entry.payload, at, by) })),
          };
          const verdict = await judge(changed, rule);
          // A byte that no signature covers may change: the signer and the content are then the same.
          if (verdict.status === "signed") expect(verdict.signer).toBe(signer);
          else expect(verdict.status).toBe("refused");
          // And of the content itself, not one.
          const other = { ...evidence, subject: flip(evidence.subject, at, by) };
          expect((await judge(other, rule)).status).toBe("refused");
          // A payload of version 2 is signed whole.
          if (evidence.simple.length > 0) expect(verdict.status).toBe("refused");
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("where no rule matches", () => {
  test("what is not signed is said to be so, and a key's signature proves nothing", async () => {
    expect(await judge(undefined)).toEqual({ status: "unsigned", sentence: "not signed" });
    expect(await judge(evidenceOf({}))).toEqual({ status: "unsigned", sentence: "not signed" });
    expect(await judge(evidenceOf({ bundles: [keyBundle(MANIFEST, createKey())] }))).toEqual({
      status: "unknown_signer",
      sentence: "signed with a key that no trust rule names, so it is not known whose it is",
    });
  });

  test("a certificate that the public Sigstore did not give out is not a signature", async () => {
    const sigstore = await createSigstore();
    const bundles = [serialize(await sigstore.bundle(MANIFEST, RELEASE))];
    const verdict = await judge(evidenceOf({ bundles }));
    expect(verdict).toMatchObject({ status: "unsigned" });
    expect(verdict.sentence).toMatch(
      /^not signed: a signature's certificate is not from a trusted authority/,
    );
  });
});

test("what is not signed is refused where a rule matches, with the rule and whom it names", async () => {
  const key = createKey();
  expect(await judge(undefined, named(key))).toEqual({
    status: "refused",
    sentence: `${ORIGIN.reference} is not signed, and the trust rule for ${PATTERN} needs a signature by the key SHA256:${key.fingerprint}`,
  });
});
