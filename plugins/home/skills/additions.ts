/** Skills from elsewhere as commands and the API add them: what is refused, and in which words. */
import { Fault, type Services } from "../../../kernel/plugin.ts";
import type { AddedSkill } from "../services.ts";
import { badSkill, type Proposal } from "./proposal.ts";

export function assertStandard({ definition, origin }: Proposal): void {
  if (definition.problems.length > 0) throw badSkill(origin.reference, definition.problems);
}

/** No skill takes the name of another. */
export async function assertFree(
  { skills, addedSkills }: Pick<Services, "skills" | "addedSkills">,
  name: string,
): Promise<void> {
  const taken = (await skills.list()).find((one) => one.name.toLowerCase() === name);
  const row = await findAdded(addedSkills, name);
  if (taken === undefined && row === undefined) return;
  const message =
    row === undefined
      ? `You have a skill ${name} of your own: nothing from elsewhere may take its name.`
      : `There is a skill ${name} from ${row.origin.reference}: update it, or remove it first.`;
  throw new Fault("invalid", "skill_exists", message, { param: "name" });
}

/** What was added keeps its name. */
export function assertSameName({ name, origin }: AddedSkill, { definition }: Proposal): void {
  if (definition.name === name) return;
  throw badSkill(origin.reference, [`it is now called ${definition.name}: add that one, and remove ${name}`]);
}

/** A yes to the new one does not answer this: it is what a person has to see. `how`: what takes it anyway. */
export function assertSigner(
  { origin }: AddedSkill,
  proposal: Proposal,
  isAgreed: boolean,
  how: string,
): void {
  const [before, after] = [origin.signer, proposal.origin.signer];
  if (before === undefined || before === after || isAgreed) return;
  const now =
    after === undefined ? "no signature of this one could be verified" : `this one is signed by ${after}`;
  const message = `what you agreed to was signed by ${before}; ${now}. Nothing was changed; ${how} takes it.`;
  throw new Fault("invalid", "not_agreed", message);
}

export async function findAdded(
  addedSkills: Services["addedSkills"],
  name: string,
): Promise<AddedSkill | undefined> {
  return (await addedSkills.list()).find((one) => one.name === name);
}

export async function toolNames({ tools }: Pick<Services, "tools">): Promise<readonly string[]> {
  // A new home gets the shipped ones first.
  await tools.ready?.();
  return (await tools.list()).map(({ name }) => name);
}

export function missingSkill(name: string): never {
  const message = `there is no skill "${name}"; "postern skill list" shows them`;
  throw new Fault("missing", "no_such_skill", message, { param: "name" });
}
