/** Paths, names and links must not lead out of a workspace, into another's, or to a name that looks like another. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { cleanPath, foldPath } from "../../plugins/workspace/path.ts";
import { MIGRATIONS } from "../../plugins/workspace/tables.ts";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { byPerson, openWorkspace, writing } from "../support/services/workspace.ts";

const TRICKS = [
  ...["/a/../b", "/..", "../x", "/./a", "//a", "/a//b", "/a/..", "garden:/../x", "/…/../x"],
  ...["/a\0b", "/a\nb", "/a\x1bb", "/a\u007f", "/a\u0085b", "/a\u2028b"],
  ...[
    "/a\u202etxt.exe",
    "/a\u2066b",
    "/a\u200bb",
    "/a\u200db",
    "/\ufeffa",
    "/a\u00adb",
    "/a\u{e0041}b",
    "/\u3164",
  ],
  ...["/a\\..\\b", "/a\uff0f..\uff0fb", "/\u2024\u2024/b", "/\uff0e\uff0e", "/a\uff3cb"],
  ...["/a\ud800", "/ a", "/a ", "/a/ /b", "garden:plan.md", "c:x"],
  ...[
    `/${"a".repeat(256)}`,
    `/${"é".repeat(128)}`,
    `/${"a/".repeat(51)}a`,
    `/${"abcdefghi/".repeat(103)}`,
    "x".repeat(1_000_000),
  ],
];

attack("J", "Path tricks are refused, and nothing in a path is decoded", async () => {
  const { workspace } = await openWorkspace();
  for (const path of TRICKS) {
    await expect(
      workspace.apply("ann", [writing(path, "1")], byPerson),
      path.slice(0, 40),
    ).rejects.toMatchObject({ code: "bad_path" });
    await expect(workspace.read("ann", path)).rejects.toMatchObject({ code: "bad_path" });
  }
  expect((await workspace.list("ann", "/", { deep: true })).items).toEqual([]);
  // Encoded dots are letters like any others.
  await workspace.apply("ann", [writing("/%2e%2e/%2fetc%2fpasswd", "1")], byPerson);
  expect(await workspace.find("ann", "/%2E%2E")).toBeUndefined();
  expect((await workspace.list("ann", "/")).items.map(({ path }) => path)).toEqual(["/%2e%2e"]);
});

attack("J", "Whatever is typed is refused or one path, below the root, that stays itself", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.constantFrom("..", ".", "", "%2e%2e", "a", "A", "ß", "ẞ", "é", "\u0301"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const typed = parts.join("/");
      let path: string;
      try {
        path = cleanPath(typed);
      } catch (error) {
        expect(error).toMatchObject({ code: "bad_path" });
        return;
      }
      expect(cleanPath(path)).toBe(path);
      expect(path).toMatch(/^(?:[a-z0-9-]+:)?\//);
      expect(
        path
          .split("/")
          .slice(1)
          .some((each) => each === ".." || each === "."),
      ).toBe(false);
      expect(foldPath(foldPath(path))).toBe(foldPath(path));
      expect(Buffer.byteLength(path)).toBeLessThanOrEqual(1024);
    }),
    { numRuns: 500 },
  );
});

attack("J", "Another user's files, versions and changes are not there, whatever id is guessed", async () => {
  const { workspace } = await openWorkspace();
  await workspace.apply("ann", [writing("/secret.txt", "ann's")], byPerson);
  const [set] = (await workspace.log("ann")).items;
  expect(await workspace.read("bob", "/secret.txt")).toBeUndefined();
  expect(await workspace.read("bob", "/secret.txt", { version: 1 })).toBeUndefined();
  expect(await workspace.versions("bob", "/secret.txt")).toEqual([]);
  await expect(workspace.undo("bob", set?.id ?? "", byPerson, "overwrite")).rejects.toMatchObject({
    code: "workspace_not_found",
  });
  await expect(workspace.restore("bob", "/secret.txt", 1, byPerson)).rejects.toMatchObject({
    code: "workspace_not_kept",
  });
  // The same content is kept for each, so that nobody learns what others have.
  await workspace.apply("bob", [writing("/guess.txt", "ann's")], byPerson);
  expect((await workspace.usage("bob")).bytes).toBe((await workspace.usage("ann")).bytes);
});

/** Folders that are the home, contain it or lie in it, by name and by links. */
function waysToHome(home: string): readonly string[] {
  const links = temporaryFolder();
  symlinkSync(home, join(links, "home"));
  symlinkSync(dirname(home), join(links, "above"));
  mkdirSync(join(home, "tools"));
  return [
    ...[home, dirname(home), join(home, "tools"), `${home}/../${basename(home)}`, join(home, "tools", "..")],
    ...[join(links, "home"), join(links, "home", "tools"), join(links, "above", basename(home))],
  ];
}

attack("J", "The service's home and system folders are not mounted, whatever leads there", async () => {
  const home = join(temporaryFolder(), "home");
  mkdirSync(home);
  const { workspace, store } = await openWorkspace(home);
  writeFileSync(join(home, "secrets.key"), "the key");
  const ways = waysToHome(home);
  for (const folder of [...ways, "/", "/etc", "/usr/bin", "/proc/self", "/dev", "/var"])
    await expect(workspace.mount({ name: "stolen", folder, user: "ann" }), folder).rejects.toMatchObject({
      code: "workspace_mount",
      message: expect.stringContaining("cannot be mounted: it is, contains or lies in"),
    });
  // A build before this one mounted them.
  const sql = await store.tables("workspace", MIGRATIONS);
  for (const [at, folder] of ways.entries())
    await sql.run(
      'INSERT INTO workspace_mounts (name, "user", machine, folder, read_only) VALUES (?, ?, ?, ?, 0)',
      ...[`old${at}`, "", hostname(), realpathSync(folder)],
    );
  for (const [at, folder] of ways.entries()) {
    const below = relative(realpathSync(folder), join(realpathSync(home), "secrets.key"));
    const path = below.startsWith("..") ? `/old${at}/secrets.key` : `/old${at}/${below}`;
    await expect(workspace.read("ann", path), folder).rejects.toMatchObject({ code: "workspace_mount" });
    await expect(
      workspace.apply("ann", [writing(`${dirname(path)}/.env`, "X=1")], byPerson),
    ).rejects.toMatchObject({ code: "workspace_mount" });
    await expect(workspace.list("ann", `/old${at}`)).rejects.toMatchObject({ code: "workspace_mount" });
  }
  expect((await workspace.search("ann", { words: "key" })).hits).toEqual([]);
  expect(
    (await workspace.mounts()).every(({ problem }) => problem?.includes("is off: it is, contains")),
  ).toBe(true);
});

attack(
  "J",
  "A mounted folder that becomes the home later, or gets the home in it, is not opened",
  async () => {
    const place = temporaryFolder();
    const home = join(place, "home");
    mkdirSync(home);
    const { workspace } = await openWorkspace(home);
    writeFileSync(join(home, "secrets.key"), "the key");
    mkdirSync(join(place, "parent", "notes"), { recursive: true });
    await workspace.mount({ name: "notes", folder: join(place, "parent", "notes"), user: "ann" });
    await workspace.mount({ name: "all", folder: join(place, "parent"), user: "ann" });
    renameSync(join(place, "parent"), join(place, "aside"));
    // The parent is a link now, and its notes are the home.
    mkdirSync(join(place, "swapped"));
    symlinkSync(home, join(place, "swapped", "notes"));
    symlinkSync(join(place, "swapped"), join(place, "parent"));
    for (const path of ["/notes/secrets.key", "/all/notes/secrets.key"])
      await expect(workspace.read("ann", path)).rejects.toMatchObject({ code: "workspace_mount" });
    rmSync(join(place, "parent"));
    // The home itself is moved below the mount, and a link leads there.
    renameSync(join(place, "aside"), join(place, "parent"));
    renameSync(home, join(place, "parent", "home"));
    symlinkSync(join(place, "parent", "home"), home);
    await expect(workspace.read("ann", "/all/home/secrets.key")).rejects.toMatchObject({
      message: expect.stringContaining("is off: it is, contains or lies in the service's home"),
    });
  },
);

attack("J", "A folder below a mount that turns into a link while it is used leads nowhere", async () => {
  const { workspace } = await openWorkspace();
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(outside, "x.txt"), "outside");
  await workspace.mount({ name: "notes", folder, user: "ann", isWritable: true });
  let isOver = false;
  const swapping = (async () => {
    for (let count = 0; !isOver; count++) {
      try {
        rmSync(join(folder, "d"), { recursive: true, force: true });
        if (count % 2 === 0) mkdirSync(join(folder, "d"));
        else symlinkSync(outside, join(folder, "d"));
      } catch {
        // The service made the folder in between: the next round swaps it.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const seen = new Set<string>();
  for (let count = 0; count < 300; count++) {
    const written = await workspace
      .apply("ann", [writing("/notes/d/x.txt", `mine ${count}`)], byPerson)
      .catch((error) => error);
    const read = await workspace.read("ann", "/notes/d/x.txt").catch((error) => error);
    seen.add(Buffer.from(read?.data ?? "").toString());
    for (const outcome of [written, read])
      if (outcome instanceof Error) expect(outcome).toHaveProperty("code");
  }
  isOver = true;
  await swapping;
  expect([...seen].some((text) => text.includes("outside"))).toBe(false);
  expect(readFileSync(join(outside, "x.txt"), "utf8")).toBe("outside");
  expect(readdirSync(outside)).toEqual(["x.txt"]);
});
