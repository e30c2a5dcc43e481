/** Adding, updating and removing skills from elsewhere, as `postern skill` does it. What one brings is shown before it is added. */
import type { TextThreads } from "../../../kernel/kit/concurrency.ts";
import { type Form, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { isAgentsName } from "../../../kernel/kit/tools.ts";
import { findOrders } from "../../../kernel/kit/untrusted.ts";
import { Fault, type Services } from "../../../kernel/plugin.ts";
import type { AddedSkill } from "../services.ts";
import {
  assertFree,
  assertSigner,
  assertStandard,
  findAdded,
  missingSkill,
  toolNames,
} from "../skills/additions.ts";
import { BUNDLE_BOUNDS, kindOf } from "../skills/bundle.ts";
import {
  changedFiles,
  differencesOf,
  type Proposal,
  propose,
  scriptsIn,
  showScripts,
} from "../skills/proposal.ts";
import { SkillProposal } from "./wire.ts";

const operatorRoute = routesOf("tools", "operator");

type Given = Partial<Pick<Services, "skills" | "addedSkills" | "packages" | "tools">>;

const from = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: "https://…, npm:package or oci://registry/repository:tag",
});
const archive = Type.String({ format: "binary", description: "A .zip file or a tarball" });
const digest = Type.String({ description: "`digest` of what was found" });
const refusals = {
  400: "It is not a skill that can be added, or not signed as it has to be",
  404: "There is nothing there",
  503: "It could not be reached",
};

const isTrue = Type.Optional(Type.Enum(["true", "false"]));
const Added = Type.Object({ name: Type.String(), digest: Type.String() });

interface Agreed {
  readonly digest: string;
  readonly allowSignerChange?: boolean | undefined;
}

export function skillChangeRoutes(given: Given, threads: Pick<TextThreads, "diff">): readonly Route[] {
  const need = <Service>(service: Service | undefined): Service =>
    orRefuse(service, "service_off", "Skills cannot be added here; use postern skill.")();
  const skills = () => ({ skills: need(given.skills), addedSkills: need(given.addedSkills) });

  async function fetch(what: string, allowsUnsigned: boolean): Promise<Found> {
    let isSigned = true;
    const unsigned = () => {
      isSigned = false;
      return allowsUnsigned;
    };
    const offered = await need(given.packages).fetch(what, {
      bounds: BUNDLE_BOUNDS,
      progress: () => {},
      unsigned,
    });
    return { ...propose(offered), isSigned };
  }

  async function unpack(form: Form): Promise<Found> {
    const file = form.file("archive");
    if (file === undefined)
      throw new Fault("invalid", "invalid_request", "The form lacks the archive, as a file (`archive`).", {
        param: "archive",
      });
    return { ...propose(await need(given.packages).unpack(file, BUNDLE_BOUNDS)), isSigned: true };
  }

  /** The skill that this one is another version of: of the same name, from the same place. */
  async function earlier(proposal: Proposal): Promise<AddedSkill | undefined> {
    assertStandard(proposal);
    const { name } = proposal.definition;
    const row = await findAdded(need(given.addedSkills), name);
    if (row?.origin.reference === proposal.origin.reference) return row;
    await assertFree(skills(), name);
    return undefined;
  }

  async function show(found: Found): Promise<Declared<typeof SkillProposal>> {
    const { definition, files, digest, origin, signature, isSigned } = found;
    const { name, description, license, compatibility, allowedTools, requiredTools } = definition;
    const row = await earlier(found);
    const known = new Set(allowedTools ? await toolNames({ tools: need(given.tools) }) : []);
    const scripts = showScripts(files);
    return {
      ...{ name, description, digest, license, compatibility },
      orders: [...findOrders(description)],
      from: origin.reference,
      signature,
      signed: isSigned,
      allowedTools: allowedTools && [...allowedTools],
      unknownTools: (allowedTools ?? []).filter((tool) => !known.has(tool) && !isAgentsName(tool)),
      requiredTools: [...requiredTools],
      scripts: scripts.map(wireOf),
      moreScripts: scriptsIn(files).length - scripts.length,
      notRunnable: [...files.keys()].filter((path) => kindOf(path) === "not runnable here"),
      files: files.size,
      bytes: [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
      replaces: row && (await compare(row, found)),
    };
  }

  async function compare(row: AddedSkill, { files, digest, origin }: Found) {
    const before = (await need(given.addedSkills).files(row.name)) ?? new Map<string, Uint8Array>();
    const { signer } = row.origin;
    const differences = await differencesOf(before, files, threads.diff);
    return {
      isSame: row.digest === digest,
      signer: signer === origin.signer ? undefined : signer,
      differences: differences.map(wireOf),
      ...changedFiles(before, files),
    };
  }

  async function add(found: Found, { digest, allowSignerChange = false }: Agreed) {
    const row = await earlier(found);
    if (found.digest !== digest) {
      const message = `${found.origin.reference} has changed since you looked at it: its digest was ${digest} and is now ${found.digest}. Nothing was added; look at it again.`;
      throw new Fault("invalid", "tool_changed", message, { param: "digest" });
    }
    if (row) assertSigner(row, found, allowSignerChange, "allow_signer_change");
    const { name } = found.definition;
    const { files, origin } = found;
    await need(given.addedSkills).put({ name, digest, origin }, files);
    return { name, digest };
  }

  return [
    operatorRoute("POST /api/skills/find", {
      summary: "Get a skill and say what it brings, what would run and who signed it, without adding it",
      body: Type.Object({ from }),
      answer: SkillProposal,
      refusals,
      handle: async ({ body }) => show(await fetch(body.from, true)),
    }),
    operatorRoute("POST /api/skills/install", {
      summary: "Add a skill that was found, or update it, if it is still the same",
      body: Type.Object({
        from,
        digest,
        allowUnsigned: Type.Optional(Type.Boolean({ description: "Agree to what nobody named has signed" })),
        allowSignerChange: Type.Optional(Type.Boolean({ description: "Agree to another signer" })),
      }),
      status: 201,
      answer: Added,
      refusals,
      handle: async ({ body }) => add(await fetch(body.from, body.allowUnsigned ?? false), body),
    }),
    operatorRoute("POST /api/skills/examine", {
      summary: "Say what the skill in an archive brings and what would run, without adding it",
      form: Type.Object({ archive }),
      answer: SkillProposal,
      handle: async ({ form }) => show(await unpack(form)),
    }),
    operatorRoute("POST /api/skills", {
      summary: "Add the skill in an archive, or update the one that came from an archive of that name",
      form: Type.Object({ archive, digest, allow_signer_change: isTrue }),
      status: 201,
      answer: Added,
      handle: async ({ form }) =>
        add(await unpack(form), {
          digest: form.text("digest") ?? "",
          allowSignerChange: form.text("allow_signer_change") === "true",
        }),
    }),
    operatorRoute("DELETE /api/skills/{name}", {
      summary: "Remove a skill from elsewhere",
      status: 204,
      refusals: { 404: "There is no such skill from elsewhere" },
      async handle({ params: { name } }) {
        if (!(await need(given.addedSkills).remove(name))) missingSkill(name);
      },
    }),
  ];
}

interface Found extends Proposal {
  /** By somebody whom a trust rule names; uploads are not asked about. */
  readonly isSigned: boolean;
}

const wireOf = <File extends { readonly lines: readonly string[] }>({ lines, ...file }: File) => ({
  ...file,
  lines: [...lines],
});
