/** `postern skill add|list|info|check|update|remove`: skills from elsewhere, which are followed once the operator has agreed to them. */
import type { Command } from "commander";
import {
  agree,
  confirms,
  isInteractive,
  type JsonOption,
  print,
  table,
  verb,
  warn,
} from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Services } from "../../../kernel/plugin.ts";
import type { AddedSkill } from "../services.ts";
import {
  assertFree,
  assertSameName,
  assertSigner,
  assertStandard,
  findAdded,
  missingSkill,
  toolNames,
} from "./additions.ts";
import { BUNDLE_BOUNDS } from "./bundle.ts";
import {
  compareProposals,
  describeProposal,
  differencesOf,
  type Proposal,
  propose,
  type ShownFile,
} from "./proposal.ts";

interface Options extends JsonOption {
  readonly yes?: boolean;
  readonly allowUnsigned?: boolean;
  readonly allowSignerChange?: boolean;
  readonly check?: boolean;
}

type Use = Pick<Services, "skills" | "addedSkills" | "packages" | "tools">;

const SOURCES = "a folder, a .zip file, https://…, npm:… or oci://…";

export function register(group: Command, context: CommandContext): void {
  const withSkills = (work: (use: Use) => Promise<void>) =>
    context.with(["skills", "addedSkills", "packages", "tools"], work);
  const fetch = async ({ packages }: Use, what: string, options: Options): Promise<Proposal> =>
    propose(
      await packages.fetch(what, {
        folder: context.folder,
        bounds: BUNDLE_BOUNDS,
        progress,
        unsigned: (sentence, { reference }) => askUnsigned(sentence, reference, options),
      }),
    );
  const agreeing = (command: Command) =>
    command
      .option("--yes", "agree to it")
      .option("--allow-unsigned", "take what nobody you trust has signed, where no trust rule forbids it");

  agreeing(
    verb(
      group,
      "add <what>",
      `check a skill and add it: ${SOURCES}`,
      "skill add ./pdf-forms",
      "skill add https://example.org/pdf-forms.zip",
      "skill add npm:@acme/pdf-forms@^1",
      "skill add oci://ghcr.io/acme/pdf-forms:1.0.0",
    ),
  ).action((what: string, options: Options) =>
    withSkills(async (use) => {
      const proposal = await fetch(use, what, options);
      assertStandard(proposal);
      const { name } = proposal.definition;
      await assertFree(use, name);
      const sentences = describeProposal(proposal, await toolNames(use));
      progress(`${name}:\n${bullets(sentences)}`);
      await agree(`Add ${name}, and let the agent follow it?`, options);
      await use.addedSkills.put({ ...proposal, name }, proposal.files);
      print(
        options,
        { name, digest: proposal.digest, origin: proposal.origin, sentences },
        `Added ${name}. The agent follows it from the next message on.`,
      );
    }),
  );

  verb(
    group,
    "check <what>",
    `check a skill by the Agent Skills standard: ${SOURCES}`,
    "skill check ./pdf-forms",
  ).action((what: string, options: Options) =>
    withSkills(async (use) => {
      const { definition } = await fetch(use, what, { ...options, allowUnsigned: true });
      const { name, problems } = definition;
      if (problems.length > 0) process.exitCode = 1;
      print(
        options,
        { name, ok: problems.length === 0, problems },
        problems.length === 0
          ? `${name} fits the standard.`
          : `${name}: ${problems.length === 1 ? "1 problem" : `${problems.length} problems`} must be fixed:\n${bullets(problems)}`,
      );
    }),
  );

  verb(group, "list", "list your own skills and those from elsewhere", "skill list").action(
    (options: Options) =>
      withSkills(async ({ skills, addedSkills }) => {
        const [all, problems, added] = await Promise.all([
          skills.list(),
          skills.problems(),
          addedSkills.list(),
        ]);
        const from = new Map(added.map(({ name, origin }) => [name, origin.reference]));
        const rows = all.map(({ name, description }) => ({
          name,
          from: from.get(name) ?? null,
          description,
        }));
        const lines = [
          rows.length === 0
            ? "There are no skills yet."
            : table(
                ["NAME", "FROM", "DESCRIPTION"],
                rows.map(({ name, from: place, description }) => [
                  name,
                  place ?? "yours",
                  shorten(description),
                ]),
              ).trimEnd(),
          ...problems.map(({ folder, why }) => `${folder} cannot be used: ${why}`),
        ];
        print(options, { skills: rows, problems }, lines.join("\n"));
      }),
  );

  verb(
    group,
    "info <name>",
    "show what a skill is, its files, and what was agreed to",
    "skill info pdf-forms",
  ).action((name: string, options: Options) =>
    withSkills(async (use) => {
      const skill = (await use.skills.read(name)) ?? missingSkill(name);
      const row = skill.origin && (await findAdded(use.addedSkills, skill.name));
      const files = skill.files.map(({ path, bytes, kind }) => `${path} (${kind}, ${bytes} bytes)`);
      const facts = row && { digest: row.digest, from: row.origin.reference, agreed_at: row.addedAt };
      const lines = [
        `${skill.name}: ${skill.description}`,
        row
          ? `from ${row.origin.reference}, agreed to on ${row.addedAt} as ${row.digest}`
          : "yours: what it says counts as your word",
        skill.allowedTools === undefined
          ? "a turn that follows it keeps all tools that it has"
          : `a turn that follows it keeps only these tools: ${skill.allowedTools.join(", ") || "none"}`,
        ...files,
      ];
      const { origin: _, text: __, allowedTools, requiredTools, ...shown } = skill;
      const wire = { allowed_tools: allowedTools ?? null, required_tools: requiredTools };
      print(options, { ...shown, ...wire, added: facts ?? null }, lines.join("\n"));
    }),
  );

  agreeing(
    verb(
      group,
      "update [name]",
      "update a skill, or all from elsewhere, to what is there now",
      "skill update --check",
      "skill update pdf-forms",
    ),
  )
    .option("--check", "only show what is different")
    .option("--allow-signer-change", "update although somebody else signed it, or nobody")
    .action((name: string | undefined, options: Options) =>
      withSkills(async (use) => {
        const all = await use.addedSkills.list();
        const wanted =
          name === undefined ? all : [all.find((one) => one.name === name) ?? missingSkill(name)];
        const results = [];
        for (const row of wanted) results.push(await update(use, row, options));
        print(
          options,
          { skills: results },
          results.map((one) => `${one.name}: ${one.status}`).join("\n") ||
            "There are no skills from elsewhere.",
        );
      }),
    );

  verb(group, "remove <name>", "remove a skill from elsewhere", "skill remove pdf-forms").action(
    (name: string, options: Options) =>
      withSkills(async ({ addedSkills }) => {
        if (!(await addedSkills.remove(name))) missingSkill(name);
        print(options, { name, removed: true }, `Removed ${name}.`);
      }),
  );

  async function update(use: Use, row: AddedSkill, options: Options) {
    const { name } = row;
    const proposal = await fetch(use, row.origin.reference, options);
    assertStandard(proposal);
    assertSameName(row, proposal);
    if (proposal.digest === row.digest) return { name, status: "current" };
    const files = (await use.addedSkills.files(name)) ?? new Map<string, Uint8Array>();
    const changes = compareProposals(propose({ files, folder: name, origin: row.origin }), proposal);
    const diff = await differencesOf(files, proposal.files);
    progress(`${name} has changed:\n${bullets(changes)}\n${diff.map(inLines).join("\n")}`);
    if (options.check) return { name, status: "available", changes };
    assertSigner(row, proposal, options.allowSignerChange ?? false, "--allow-signer-change");
    await agree(`Update ${name} to ${proposal.digest}?`, options);
    await use.addedSkills.put({ ...proposal, name }, proposal.files);
    return { name, status: "updated", changes };
  }
}

async function askUnsigned(sentence: string, reference: string, options: Options): Promise<boolean> {
  if (options.allowUnsigned) return true;
  if (isInteractive()) return confirms(`${sentence}. Take it anyway?`);
  const message = `${sentence} (${reference}). Pass --allow-unsigned to take it anyway.`;
  throw new Fault("invalid", "tool_unsigned", message, { param: "allow_unsigned" });
}

// On standard error, so that the output of --json can be piped.
const progress = (line: string): void => warn(`${line}\n`);
const bullets = (sentences: readonly string[]): string => sentences.map((one) => `  - ${one}`).join("\n");

const inLines = ({ path, lines, count }: ShownFile): string =>
  [
    `--- ${path}`,
    ...lines,
    ...(count > lines.length ? [`… and ${count - lines.length} more lines of ${path}`] : []),
  ].join("\n");

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}
