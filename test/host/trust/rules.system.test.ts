/** Trust rules in the store: which of them decide, on both engines. */
import { expect, test } from "vitest";
import { type NamedSigner, openTrustRules } from "../../../host/trust/rules.ts";
import { describeEngines } from "../../support/processes/engines.ts";

const keyed = (fingerprint: string): NamedSigner => ({
  type: "key",
  pem: `pem of ${fingerprint}`,
  fingerprint,
});
const RELEASE: NamedSigner = {
  type: "identity",
  subject: "release@acme.example",
  issuer: "https://accounts.example",
};

describeEngines("trust rules", (_engine, fresh) => {
  test("the most precise pattern that matches decides, with all of its rules, on every node at once", async () => {
    const place = await fresh();
    const [here, there] = [
      await openTrustRules(await place.open()),
      await openTrustRules(await place.open()),
    ];
    const signersOf = async (reference: string) => {
      const kind = reference.startsWith("npm:") ? "npm" : "oci";
      return (await there.matching({ kind, reference, digest: "" })).map(({ signer }) => signer);
    };
    await here.add("oci://registry.example/*", keyed("house"));
    await here.add("oci://registry.example/acme/*", keyed("acme"));
    await here.add("oci://registry.example/acme/*", RELEASE);
    await here.add("oci://registry.example/acme/tool", keyed("tool"));

    expect(await signersOf("oci://registry.example/other/tool:1")).toEqual([keyed("house")]);
    expect(await signersOf("oci://registry.example/acme/other:1")).toHaveLength(2);
    expect(await signersOf("oci://registry.example/acme/other:1")).toEqual(
      expect.arrayContaining([keyed("acme"), RELEASE]),
    );
    expect(await signersOf("oci://registry.example/acme/tool@sha256:00")).toEqual([keyed("tool")]);
    expect(await signersOf("oci://another.example/acme/tool:1")).toEqual([]);
    expect(await signersOf("npm:@acme/tool@1")).toEqual([]);
    expect(await there.matching({ kind: "file", reference: "/x.wasm", digest: "" })).toEqual([]);
  });

  test("the same rule is there once, and is removed by its id or with its pattern", async () => {
    const rules = await openTrustRules(await (await fresh()).open());
    const first = await rules.add("npm:@acme/*", RELEASE);
    expect(first).toMatchObject({ pattern: "npm:@acme/*", signer: RELEASE });
    expect(await rules.add("npm:@acme/*", RELEASE)).toBeUndefined();
    await rules.add("npm:@acme/*", keyed("acme"));
    await rules.add("npm:*", keyed("house"));
    expect(await rules.list()).toHaveLength(3);

    expect(await rules.remove("nothing")).toEqual([]);
    expect(await rules.remove(first?.id ?? "")).toEqual([first]);
    expect(await rules.remove("npm:@acme/*")).toMatchObject([{ signer: keyed("acme") }]);
    expect(await rules.list()).toMatchObject([{ pattern: "npm:*" }]);
  });
});
