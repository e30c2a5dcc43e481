/** Skills added over HTTP: the same questions and refusals as those of `postern skill`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { expect, inject, test } from "vitest";
import { unpackUpload } from "../../../../host/sources/packages.ts";
import { definePlugin, Fault } from "../../../../kernel/plugin.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";

const ADDRESS = "https://example.org/pdf.zip";
const SKILL = {
  "SKILL.md":
    "---\nname: pdf\ndescription: Fills in forms.\nallowed-tools: weather gone\n---\nRead the form.\n",
  "scripts/fill.ts": "return 1;\n",
  "scripts/fill.py": "print(1)\n",
};
type Files = Readonly<Record<string, string>>;

/** What is at the address now, and who has signed it. */
interface Place {
  files: Files;
  signer?: string;
}

/** Sources and trust as a third party's host could bring them; archives are unpacked by ours. */
const sourcesOf = (place: Place) =>
  definePlugin({
    name: "test-sources",
    provides: ["packages"],
    configure: () => ({}),
    start: () => ({
      packages: {
        unpack: unpackUpload,
        async fetch(what, { unsigned }) {
          if (what !== ADDRESS) throw new Fault("missing", "no_such_tool", "There is nothing there.");
          const { signer, files } = place;
          const origin = {
            kind: "https",
            reference: what,
            digest: "sha256:1",
            ...(signer && { signer }),
          } as const;
          if (!signer && !(await unsigned("not signed", origin)))
            throw new Fault("invalid", "tool_unsigned", "not signed. Nothing was installed.");
          const bytes = new Map(Object.entries(files).map(([path, text]) => [path, strToU8(text)]));
          return {
            files: bytes,
            folder: "pdf",
            origin,
            signature: signer ? `signed by ${signer}` : "not signed",
          };
        },
      },
    }),
  });

async function open(place: Place = { files: SKILL }) {
  const gateway = await openGateway({
    plugins: [sourcesOf(place)],
    tools: { weather: { run: () => ({ status: "ok", output: "" }) } },
    variables: { MEMORY_VECTORS: "false" },
  });
  const post = (path: string, body: object, token?: string) =>
    gateway.ask(`/api/skills/${path}`, { method: "POST", body, ...(token && { token }) });
  const names = async () =>
    (await gateway.ask("/api/skills")).body.skills.map(({ name }: { name: string }) => name);
  return { gateway, place, post, names, find: async () => (await post("find", { from: ADDRESS })).body };
}

async function upload(gateway: TestGateway, path: string, files: Files, fields: Files = {}) {
  const form = new FormData();
  const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]));
  form.set("archive", new File([zipSync(bytes)], "pdf.zip"));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const answer = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body: form });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

test("a skill is shown with the scripts that would run, and added only as what was shown", async () => {
  const { gateway, place, post, names, find } = await open();
  const found = await find();
  expect(found).toMatchObject({
    name: "pdf",
    from: ADDRESS,
    signed: false,
    signature: "not signed",
    allowed_tools: ["weather", "gone"],
    unknown_tools: ["gone"],
    scripts: [{ path: "scripts/fill.ts", lines: ["return 1;"], count: 1 }],
    not_runnable: ["scripts/fill.py"],
    files: 3,
  });
  expect(await names()).toEqual([]);
  const agreed = { from: ADDRESS, digest: found.digest, allow_unsigned: true };
  const refusalOf = async (body: object) => (await post("install", body)).body.error?.code;
  expect(await refusalOf({ ...agreed, allow_unsigned: false })).toBe("tool_unsigned");
  place.files = { ...SKILL, "scripts/fill.ts": "return 2;\n" };
  expect(await refusalOf(agreed)).toBe("tool_changed");
  expect(await names()).toEqual([]);
  place.files = SKILL;
  expect((await post("install", agreed)).status).toBe(201);
  expect(await names()).toEqual(["pdf"]);

  const remove = () => gateway.ask("/api/skills/pdf", { method: "DELETE" });
  expect((await remove()).status).toBe(204);
  expect((await remove()).body.error.code).toBe("no_such_skill");
  expect(await names()).toEqual([]);
});

test("an update shows line by line what changed, and another signer is agreed to separately", async () => {
  const { place, post, find } = await open({ files: SKILL, signer: "acme" });
  const { digest } = await find();
  await post("install", { from: ADDRESS, digest });
  expect((await find()).replaces).toMatchObject({ is_same: true, differences: [] });
  place.files = { ...SKILL, "scripts/fill.ts": "return 2;\n", "notes.md": "new" };
  place.signer = "mallory";
  const found = await find();
  expect(found.replaces).toEqual({
    is_same: false,
    signer: "acme",
    differences: [{ path: "scripts/fill.ts", lines: ["- return 1;", "+ return 2;"], count: 2 }],
    added: ["notes.md"],
    removed: [],
    changed: ["scripts/fill.ts"],
  });
  const agreed = { from: ADDRESS, digest: found.digest };
  const refused = await post("install", agreed);
  expect(refused.body.error).toMatchObject({
    code: "not_agreed",
    message: expect.stringContaining("was signed by acme; this one is signed by mallory"),
  });
  expect((await post("install", { ...agreed, allow_signer_change: true })).status).toBe(201);
  expect((await find()).replaces).toMatchObject({ is_same: true });
});

test("an archive is examined and added; what is no skill, has a name that is taken or is not the operator's is refused", async () => {
  const { gateway, post, names } = await open();
  const packed = Object.fromEntries(Object.entries(SKILL).map(([path, text]) => [`pdf/${path}`, text]));
  const examined = await upload(gateway, "/api/skills/examine", packed);
  expect(examined.body).toMatchObject({ name: "pdf", from: "pdf.zip", signed: true });
  expect(examined.body.signature).toBeUndefined();
  expect((await upload(gateway, "/api/skills", packed)).body.error.code).toBe("tool_changed");
  expect(await names()).toEqual([]);
  const { digest } = examined.body;
  expect((await upload(gateway, "/api/skills", packed, { digest })).status).toBe(201);
  expect(await names()).toEqual(["pdf"]);
  // From elsewhere nothing takes its name, and nothing that of one of the operator's own.
  expect((await post("find", { from: ADDRESS })).body.error.message).toContain("from pdf.zip: update it");
  const own = join(gateway.service.home, "skills", "soup");
  mkdirSync(own, { recursive: true });
  const soup = "---\nname: soup\ndescription: How to cook soup.\n---\nBoil.";
  writeFileSync(join(own, "SKILL.md"), soup);
  await gateway.ask("/api/skills/pdf", { method: "DELETE" });
  // It counts after a moment. Where nodes share a database, the folder would have to be pushed there first.
  if (inject("storeEngine") !== "postgres")
    await expect
      .poll(
        async () =>
          (await upload(gateway, "/api/skills/examine", { "soup/SKILL.md": soup })).body.error?.code,
      )
      .toBe("skill_exists");
  const odd = { "SKILL.md": "---\nname: Odd\ndescription: d\n---\n" };
  expect((await upload(gateway, "/api/skills/examine", odd)).body.error.code).toBe("bad_skill");
  expect((await upload(gateway, "/api/skills/examine", {})).status).toBe(400);
  const token = await gateway.addUser("ann");
  expect((await post("find", { from: ADDRESS }, token)).status).toBe(403);
  expect((await gateway.ask("/api/skills/soup", { method: "DELETE", token })).status).toBe(403);
});
