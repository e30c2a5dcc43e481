import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openVault } from "../../../host/secrets/secrets.ts";
import { Fault } from "../../../kernel/fault.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { loadKeys, parseKeys } from "../../../plugins/store/keys/secrets-key.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";

let home: string;
let store: OpenStore;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "postern-secrets-"));
  store = openStore(join(home, "store.sqlite"));
});

afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true });
});

const keyed = () => store.keyed<string>("secrets");

const notes = (digest = "one", hosts = ["a.test"]) => ({ tool: "notes", digest, hostsOf: () => hosts });

async function openAll(mask = createMask(), on = store) {
  const key = await loadKeys(home, undefined);
  return openVault({ keyed: on.keyed<string>("secrets"), version: on.keyedVersion, key, mask });
}

/** As the tool "notes" has it. */
async function open(mask = createMask(), on = store) {
  const vault = await openAll(mask, on);
  return { ...vault.of(notes()), known: vault.known };
}

function fault(code: string) {
  return expect.objectContaining({ code, name: "Fault" });
}

test("a secret is set, seen, replaced and removed", async () => {
  const { secrets, values, known } = await open();
  expect(await secrets.standing("a")).toEqual({ type: "missing" });
  await secrets.set("b", "value-of-b");
  await secrets.set("a", "  value-of-a\n");
  expect(await secrets.standing("a")).toEqual({ type: "usable" });
  expect(await values.read("a")).toEqual({ value: "value-of-a" });
  await secrets.set("a", "another-value");
  expect(await values.read("a")).toEqual({ value: "another-value" });
  expect(await secrets.remove("a")).toBe(true);
  expect(await secrets.remove("a")).toBe(false);
  expect(await secrets.standing("a")).toEqual({ type: "missing" });
  expect(await known()).toEqual(["value-of-b"]);
});

test("a value that is removed or replaced stays hidden while a call can last, and is forgotten then", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const mask = createMask();
  const settings = mask.add("in-the-settings-too");
  const { secrets, known } = await open(mask);
  await secrets.set("a", "removed-value");
  await secrets.set("b", "in-the-settings-too");
  await secrets.set("c", "replaced-value");
  await known();
  await secrets.remove("a");
  await secrets.remove("b");
  await secrets.set("c", "current-value");
  await known();
  const text = "removed-value replaced-value in-the-settings-too current-value";
  expect(mask.hide(text)).toBe("[secret] [secret] [secret] [secret]");
  vi.advanceTimersByTime(2 * 60 * 60_000);
  await known();
  expect(mask.hide(text)).toBe("removed-value replaced-value [secret] [secret]");
  settings();
  expect(mask.hide(text)).toContain("in-the-settings-too [secret]");
});

test("the face that commands get cannot read a value", async () => {
  const { secrets } = await open();
  expect(Object.keys(secrets).sort()).toEqual(["remove", "set", "share", "standing"]);
});

test("an empty value is refused", async () => {
  const { secrets } = await open();
  await expect(secrets.set("a", " \n")).rejects.toEqual(fault("secret_empty"));
});

test("the value is on disk only sealed, in the store and in its write-ahead log", async () => {
  const { secrets } = await open();
  await secrets.set("a", "findable-plain-value");
  for (const file of await readdir(home)) {
    const bytes = await readFile(join(home, file));
    expect(bytes.includes("findable-plain-value")).toBe(false);
    expect(bytes.includes(Buffer.from("findable-plain-value").toString("base64").slice(0, 20))).toBe(false);
  }
});

test("two seals of one value differ", async () => {
  const { secrets } = await open();
  await secrets.set("a", "same-value");
  const first = await keyed().get("notes/a");
  await secrets.set("a", "same-value");
  expect(await keyed().get("notes/a")).not.toBe(first);
});

test("a sealed value that was changed, or moved to another name, does not open, and the others do", async () => {
  const { secrets, values, known } = await open();
  await secrets.set("a", "value-of-a");
  await secrets.set("b", "value-of-b");
  await keyed().set("notes/moved", (await keyed().get("notes/a")) ?? "");
  const bytes = Buffer.from((await keyed().get("notes/b")) ?? "", "base64");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  await keyed().set("notes/b", bytes.toString("base64"));
  await keyed().set("notes/junk", "!");
  for (const name of ["moved", "b", "junk"]) {
    await expect(values.read(name)).rejects.toEqual(fault("secret_unreadable"));
  }
  expect(await known()).toEqual(["value-of-a"]);
});

test("another key opens nothing and says what to do", async () => {
  const { secrets } = await open();
  await secrets.set("a", "value-of-a");
  const other = await openVault({ keyed: keyed(), key: Buffer.alloc(32, 7), mask: createMask() });
  await expect(other.of(notes()).values.read("a")).rejects.toThrow(
    /Restore secrets\.key .* or set the secret again/,
  );
});

test("every stored value, refresh tokens included, is masked from the moment the vault is open", async () => {
  const { secrets, values } = await open();
  await secrets.set("a", "stored-before");
  await values.write("b", {
    value: "access-token",
    oauth: { tokenUrl: "https://a.test/", clientId: "c", scopes: [], refreshToken: "refresh-token" },
  });
  const mask = createMask();
  const later = await open(mask);
  expect(mask.hide("stored-before access-token refresh-token")).toBe("[secret] [secret] [secret]");
  await later.secrets.set("c", "stored-after");
  expect(mask.hide("stored-after")).toBe("[secret]");
});

test("what somebody else stores or removes is seen at once, in this process and in another", async () => {
  const here = await open();
  const elsewhere = openStore(join(home, "store.sqlite"));
  for (const there of [await open(), await open(createMask(), elsewhere)]) {
    await there.secrets.set("a", "from-elsewhere");
    expect(await here.values.read("a")).toEqual({ value: "from-elsewhere" });
    expect(await here.known()).toEqual(["from-elsewhere"]);
    expect(await here.known()).toBe(await here.known());
    await there.secrets.remove("a");
    expect(await here.known()).toEqual([]);
  }
  await elsewhere.close();
});

test("secrets.key is made on first use, for the owner alone, and is the same for all who start at once", async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadKeys(home, undefined)));
  expect(new Set(keys.map((ring) => Buffer.from(ring.all()[0]).toString("hex"))).size).toBe(1);
  expect((await stat(join(home, "secrets.key"))).mode & 0o777).toBe(0o600);
  expect((await readdir(home)).filter((file) => file.startsWith("secrets.key"))).toEqual(["secrets.key"]);
});

test("a key file that others can read, or that holds no key, is a configuration fault", async () => {
  await loadKeys(home, undefined);
  await chmod(join(home, "secrets.key"), 0o644);
  await expect(loadKeys(home, undefined)).rejects.toThrow(/chmod 600/);
  await writeFile(join(home, "secrets.key"), "short");
  await chmod(join(home, "secrets.key"), 0o600);
  await expect(loadKeys(home, undefined)).rejects.toEqual(fault("bad_secrets_key"));
});

test("POSTERN_SECRETS_KEY takes 32 bytes in hex or base64, comes before the file, and is never shown", async () => {
  const key = Buffer.alloc(32, 9);
  expect((await loadKeys(home, key.toString("hex"))).all()).toEqual([key]);
  expect((await loadKeys(home, ` ${key.toString("base64")} `)).all()).toEqual([key]);
  expect(await readdir(home)).not.toContain("secrets.key");
  try {
    parseKeys("wrong-and-private", "POSTERN_SECRETS_KEY");
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect(String(error)).toContain("POSTERN_SECRETS_KEY");
    expect(String(error)).not.toContain("wrong-and-private");
  }
});

test("only the broker and the sign-in of MCP servers ever have a vault in their hands", async () => {
  const host = join(import.meta.dirname, "..", "..", "..", "host");
  const sources = (await readdir(host, { recursive: true })).filter((file) => file.endsWith(".ts"));
  const holders: string[] = [];
  for (const file of sources) {
    if (/\b(SecretValues|Vault|openVault|vault)\b/.test(await readFile(join(host, file), "utf8")))
      holders.push(file);
  }
  // `tool-host.ts`, `service-host.ts` and `foreign-tools.ts` put the parts together, `environment.ts` has what commands are started with; `setup.ts`, `admin.ts` and `authorization.ts` store what people enter and a sign-in brings.
  expect(holders.sort()).toEqual([
    "admin.ts",
    "authorization.ts",
    "broker/credentials.ts",
    "broker/oauth.ts",
    "broker/token-request.ts",
    "mcp/foreign-tools.ts",
    "mcp/sign-in/access.ts",
    "mcp/sign-in/environment.ts",
    "mcp/sign-in/sign-in.ts",
    "secrets/secrets.ts",
    "service-host.ts",
    "setup.ts",
    "tool-host.ts",
  ]);
});

const mailer = { tool: "mailer", digest: "two", hostsOf: () => ["mail.test"] };

test("another tool that names a secret gets it only after a person has agreed, and then what is renewed too", async () => {
  const vault = await openAll();
  const [own, other] = [vault.of(notes()), vault.of(mailer)];
  await own.secrets.set("token", "value-of-notes");
  expect(await other.values.read("token")).toBeUndefined();
  expect(await other.secrets.standing("token")).toEqual({
    type: "asks",
    question:
      "`token` was set for notes, which sends it to a.test. Let mailer use it too? It sends it to mail.test.",
  });
  await other.secrets.share("token");
  expect(await other.values.read("token")).toEqual({ value: "value-of-notes" });
  expect(await vault.sharers("notes", "token")).toEqual(["mailer"]);
  await other.values.renew("token", { value: "value-of-notes" }, { value: "renewed" });
  expect(await own.values.read("token")).toEqual({ value: "renewed" });
  // One that is entered for the other is its own.
  await other.secrets.set("token", "value-of-mailer");
  expect(await own.values.read("token")).toEqual({ value: "renewed" });
  expect(await other.values.read("token")).toEqual({ value: "value-of-mailer" });
});

test("another version, or other hosts, get it only after a person has agreed", async () => {
  const vault = await openAll();
  await vault.of(notes()).secrets.set("token", "value-of-notes");
  for (const next of [notes("other"), notes("one", ["a.test", "evil.test"])]) {
    const { secrets, values } = vault.of(next);
    expect(await values.read("token")).toBeUndefined();
    expect(await secrets.standing("token")).toMatchObject({
      type: "asks",
      question: expect.stringContaining("another version of notes, which sent it to a.test"),
    });
  }
  expect(await vault.of(notes("one", [])).values.read("token")).toEqual({ value: "value-of-notes" });
  expect(await vault.heldBy(notes())).toEqual(["token"]);
  await vault.pass(notes(), notes("other", ["b.test"]));
  expect(await vault.of(notes("other", ["b.test"])).values.read("token")).toEqual({
    value: "value-of-notes",
  });
  expect(await vault.of(notes()).values.read("token")).toBeUndefined();
});

test("who shares a secret does not get what is set for another version of the tool that owned it", async () => {
  const vault = await openAll();
  await vault.of(notes()).secrets.set("token", "value-of-notes");
  await vault.of(mailer).secrets.share("token");
  await vault.of(notes("other")).secrets.set("token", "set-for-another");
  expect(await vault.of(mailer).values.read("token")).toBeUndefined();
});

test("what one user has is no other user's, cannot be shared, and a new version keeps it", async () => {
  const vault = await openAll();
  const of = (user?: string, version = notes()) => vault.of({ ...version, user });
  const annsServer = notes("one", ["ann.test"]);
  await of("ann", annsServer).secrets.set("token", "anns-token-0123456789");
  expect(await of("ann", annsServer).values.read("token")).toEqual({ value: "anns-token-0123456789" });
  expect(await of("ann").secrets.standing("token")).toMatchObject({ type: "asks" });
  for (const other of [of("bob", annsServer), of(undefined, annsServer)]) {
    expect(await other.values.read("token")).toBeUndefined();
    expect(await other.secrets.standing("token")).toEqual({ type: "missing" });
  }
  const mailer = { tool: "mailer", digest: "one", hostsOf: () => ["ann.test"] };
  expect(await vault.of(mailer).secrets.standing("token")).toEqual({ type: "missing" });
  expect(await vault.known()).toEqual(["anns-token-0123456789"]);
  // What all share is nothing that one user may agree about.
  await vault.of(mailer).secrets.set("key", "value-of-mailer");
  expect(await of("bob").secrets.standing("key")).toEqual({ type: "missing" });
  expect(await vault.heldBy(notes())).toEqual(["token"]);
  await vault.pass(notes(), notes("two"));
  expect(await of("ann", notes("two", ["ann.test"])).values.read("token")).toEqual({
    value: "anns-token-0123456789",
  });
  await vault.forgetUser("ann");
  expect(await vault.known()).toEqual(["value-of-mailer"]);
});

test("what a user typed for themselves is looked for everywhere only if it looks random, and is bounded", async () => {
  const mask = createMask();
  const vault = await openAll(mask);
  const { secrets, values } = vault.of({ ...notes(), user: "ann" });
  await secrets.set("token", "https://");
  await secrets.set("key", "anns-token-0123456789");
  expect(await vault.known()).toEqual(["anns-token-0123456789"]);
  const again = await openAll(mask);
  expect(await again.known()).toEqual(["anns-token-0123456789"]);
  expect(mask.hide("https://a.test anns-token-0123456789")).toBe("https://a.test [secret]");
  await expect(secrets.set("token", "ü".repeat(2049))).rejects.toEqual(fault("secret_too_long"));
  expect(await values.read("token")).toEqual({ value: "https://" });
  for (let count = 2; count < 20; count++) await secrets.set(`more_${count}`, "ü".repeat(2048));
  await expect(secrets.set("last", "value-of-last")).rejects.toEqual(fault("too_many_secrets"));
  await secrets.set("token", "it may be replaced");
  await secrets.remove("key");
  await secrets.set("last", "value-of-last");
  await vault.of({ ...notes(), user: "bob" }).secrets.set("token", "value-of-bob");
  await vault.of(notes()).secrets.set("token", "x".repeat(5000));
});

test("a renewed token goes where the old one was read, or nowhere", async () => {
  const vault = await openAll();
  const [all, ann] = [vault.of(notes()), vault.of({ ...notes(), user: "ann" })];
  const [old, renewed] = [{ value: "value-of-ann" }, { value: "renewed" }];
  await ann.values.write("token", old);
  await ann.values.renew("token", old, renewed);
  expect(await ann.values.readOwn("token")).toEqual(renewed);
  expect(await all.values.read("token")).toBeUndefined();
  // Deleted while it is renewed, with one for all users and without.
  await ann.secrets.remove("token");
  await ann.values.renew("token", renewed, { value: "too-late" });
  expect(await all.values.read("token")).toBeUndefined();
  await all.secrets.set("token", "value-for-all");
  await ann.values.renew("token", renewed, { value: "too-late" });
  expect(await ann.values.read("token")).toEqual({ value: "value-for-all" });
  // Set while it is renewed, for one user or for all.
  await ann.secrets.set("token", "set-again");
  await ann.values.renew("token", renewed, { value: "too-late" });
  await ann.values.renew("token", { value: "value-for-all" }, { value: "renewed-for-all" });
  expect(await ann.values.readOwn("token")).toEqual({ value: "set-again" });
  expect(await all.values.read("token")).toEqual({ value: "renewed-for-all" });
});
