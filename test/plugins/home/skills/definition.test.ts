/** SKILL.md by the Agent Skills standard, as strict as its reference validator. */
import { describe, expect, test } from "vitest";
import { digestOf, findBundle, kindOf } from "../../../../plugins/home/skills/bundle.ts";
import { readDefinition } from "../../../../plugins/home/skills/definition.ts";

const skill = (matter: string, text = "Do it.") => `---\n${matter}\n---\n${text}`;
const VALID = "name: pdf-forms\ndescription: Fills in forms.";
const problemsOf = (matter: string, folder = "pdf-forms") => readDefinition(skill(matter), folder).problems;

describe("a SKILL.md", () => {
  test("says what the skill is, wants and is for, every value as a text", () => {
    const matter = `${VALID}\nlicense: Apache-2.0\ncompatibility: Needs a workspace\nallowed-tools: weather Bash(git add:*) run-code\nmetadata:\n  author: acme\n  version: 1.0`;
    const read = readDefinition(`\uFEFF${skill(matter).replaceAll("\n", "\r\n")}`, "pdf-forms");
    expect(read).toEqual({
      name: "pdf-forms",
      description: "Fills in forms.",
      license: "Apache-2.0",
      compatibility: "Needs a workspace",
      metadata: new Map([
        ["author", "acme"],
        ["version", "1.0"],
      ]),
      allowedTools: ["weather", "Bash(git add:*)", "run-code"],
      requiredTools: [],
      text: "Do it.",
      problems: [],
    });
  });

  test("may have a description of 1,024 characters, which is not cut", () => {
    const description = "ä".repeat(1024);
    const read = readDefinition(skill(`name: a\ndescription: ${description}`), "a");
    expect([read.description, read.problems]).toEqual([description, []]);
  });

  test.for([
    ["a name with capitals", "name: Pdf\ndescription: d", /lower-case/],
    ["a name with two hyphens", "name: pdf--forms\ndescription: d", /single hyphens/],
    ["a name that ends with a hyphen", "name: pdf-\ndescription: d", /single hyphens/],
    ["a name that is not its folder's", "name: forms\ndescription: d", /folder is called "pdf-forms"/],
    ["no name", "description: d", /add "name: pdf-forms"/],
    [
      "a description that is too long",
      `name: pdf-forms\ndescription: ${"x".repeat(1025)}`,
      /1025 characters/,
    ],
    ["a compatibility that is too long", `${VALID}\ncompatibility: ${"x".repeat(501)}`, /at most 500/],
    ["an unknown key", `${VALID}\nversion: 1`, /"version".*below metadata/],
    ["a __proto__", `${VALID}\n__proto__: x`, /"__proto__"/],
    ["tools as a list", `${VALID}\nallowed-tools:\n  - a`, /allowed-tools is not one text/],
    ["metadata that is a text", `${VALID}\nmetadata: x`, /metadata is not a map/],
    ["deep maps", `${VALID}\nmetadata:\n  a:\n    b: c`, /nested/],
    ["brackets", `${VALID}\nmetadata: {a: b}`, /in brackets/],
  ] as const)("with %s does not fit the standard, and is told what to do", ([, matter, why]) => {
    expect(problemsOf(matter)).toEqual([expect.stringMatching(why)]);
  });

  test.for([
    ["no front matter", "Do it.", /start with front matter/],
    ["front matter that does not end", "---\nname: a\n", /start with front matter/],
    ["an anchor", skill("name: &a pdf\ndescription: *a"), /an anchor/],
    ["an alias", skill("name: pdf\ndescription: *a"), /alias|YAML/],
    ["a tag", skill("name: !!python/object pdf\ndescription: d"), /tag/],
    ["a key twice", skill("name: a\nname: b\ndescription: d"), /unique/],
    ["a second document", skill(`${VALID}\n...\nname: b`), /second document/],
    ["a directive", skill(`%TAG ! tag:x\n${VALID}`), /second document/],
    ["a colon in a value", skill("name: a\ndescription: Use: often"), /in quotes/],
    ["more than 16 KiB of it", skill(`${VALID}\nlicense: ${"x".repeat(17_000)}`), /16 KiB/],
    ["a list in place of keys", skill("- name"), /key: value/],
    ["no description", skill("name: a"), /no description/],
    ["a name that leads elsewhere", skill("name: ../up\ndescription: d"), /letters, digits/],
  ] as const)("with %s cannot be used", ([, source, why]) => {
    expect(() => readDefinition(source, "a")).toThrow(why);
  });
});

describe("the files of a skill", () => {
  const files = (...paths: string[]) => new Map(paths.map((path) => [path, Buffer.from(path)]));

  test("begin beside the SKILL.md nearest to the top, whatever folders are around it", () => {
    const found = findBundle(
      files("repo/LICENSE", "repo/pdf/skill.md", "repo/pdf/assets/SKILL.md"),
      undefined,
    );
    expect([found.folder, [...found.files.keys()]]).toEqual(["pdf", ["SKILL.md", "assets/SKILL.md"]]);
    expect(findBundle(files("SKILL.md"), "pdf").folder).toBe("pdf");
    expect(() => findBundle(files("a/SKILL.md", "b/SKILL.md"), undefined)).toThrow(/2 skills/);
    expect(() => findBundle(files("pdf/SKILL.md", "pdf/skill.md"), undefined)).toThrow(
      "it has both skill.md and SKILL.md",
    );
    expect(() => findBundle(files("README.md"), undefined)).toThrow(/no SKILL.md/);
  });

  test("have one digest in any order, and another when one of them changes", () => {
    const digest = digestOf(files("SKILL.md", "a"));
    expect(digestOf(files("a", "SKILL.md"))).toBe(digest);
    expect(digestOf(new Map([...files("SKILL.md"), ["a", Buffer.from("b")]]))).not.toBe(digest);
  });

  test("are scripts only below scripts/, and run only where they are JavaScript or TypeScript", () => {
    const paths = [
      "scripts/a.ts",
      "scripts/b/c.js",
      "scripts/d.py",
      "scripts/e",
      "references/f.js",
      "assets/g",
      "h.ts",
    ];
    expect(paths.map(kindOf)).toEqual([
      ...["script", "script", "not runnable here", "not runnable here"],
      ...["reference", "asset", "other"],
    ]);
  });
});
