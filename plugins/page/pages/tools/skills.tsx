import Plus from "lucide/dist/esm/icons/plus.mjs";
import { useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { attempt, changeThen } from "../../state/app.ts";
import { useHint } from "../../state/use-app.ts";
import { ask, type Skill, type SkillProblem, type SkillProposal } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card, CompactCard } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { toast } from "../../widgets/toast.tsx";
import { AddSkill, install } from "./add-skill.tsx";
import { SkillOffer } from "./skill-offer.tsx";

const words = text.tools.skills;

interface SkillsProps {
  readonly of: readonly Skill[];
  readonly problems: readonly SkillProblem[];
  readonly isOperator: boolean;
  onChanged(): void;
}

/** The skills with whose words they are and what they want, and the folders that cannot be used. */
export function Skills({ of: skills, problems, isOperator, onChanged }: SkillsProps) {
  const [isAdding, setAdding] = useState(false);
  const isNone = skills.length + problems.length === 0;
  return (
    <>
      <h2>{words.title}</h2>
      <p class="soft">{isNone ? words.none : words.note}</p>
      {isOperator && !isAdding && (
        <span class="row">
          <Button label={words.adding.label} icon={Plus} onClick={() => setAdding(true)} />
        </span>
      )}
      {isAdding && (
        <Card
          title={words.adding.label}
          note={words.adding.note}
          actions={<Button label={text.basics.close} class="small" onClick={() => setAdding(false)} />}
        >
          <AddSkill
            onAdded={() => {
              setAdding(false);
              onChanged();
            }}
          />
        </Card>
      )}
      <div class="tools">
        {skills.map((skill) => (
          <SkillCard key={skill.name} {...{ skill, isOperator, onChanged }} />
        ))}
        {problems.map(({ folder, why }) => (
          <p key={`/${folder}`}>{visibleLine(words.broken(folder, why))}</p>
        ))}
      </div>
    </>
  );
}

interface SkillCardProps {
  readonly skill: Skill;
  readonly isOperator: boolean;
  onChanged(): void;
}

function SkillCard({ skill, isOperator, onChanged }: SkillCardProps) {
  const { description, source, from } = skill;
  const { agreed_at: agreedAt, allowed_tools: allowed, required_tools: required, scripts } = skill;
  const name = visibleLine(skill.name);
  const facts = [
    source === "own" ? words.ownWords : words.strangersWords,
    ...(agreedAt === undefined ? [] : [words.agreed(from, agreedAt)]),
    ...(allowed ? [words.keeps(allowed)] : []),
    ...(required.length > 0 ? [words.requires(required)] : []),
    ...(scripts.length > 0 ? [words.runs(scripts)] : []),
  ];
  return (
    <CompactCard
      label={name}
      title={name}
      note={visibleLine(description)}
      tags={<span class="tag">{words.sources[source]}</span>}
    >
      <ul>
        {facts.map((fact) => (
          <li key={fact}>{visibleLine(fact)}</li>
        ))}
      </ul>
      {isOperator && source === "added" && <SkillActions {...{ skill, name, onChanged }} />}
    </CompactCard>
  );
}

/** What can be got again: an archive that was uploaded or a folder of the machine cannot, from here. */
const ADDRESS = /^(?:https:|npm:|oci:)/;

function SkillActions({
  skill,
  name,
  onChanged,
}: Omit<SkillCardProps, "isOperator"> & { readonly name: string }) {
  const { from = "" } = skill;
  const [offer, setOffer] = useState<SkillProposal>();
  const { hint, during } = useHint();
  const change = changeThen(onChanged);
  const look = async () => {
    const found = await during(
      words.adding.checking,
      ask<SkillProposal>("POST", "/api/skills/find", { from }),
    );
    if (found.name !== skill.name || found.replaces === undefined)
      toast(words.adding.renamed(visibleLine(found.name)));
    else if (found.replaces.is_same) toast(words.adding.current(name));
    else setOffer(found);
  };
  const update = async () => {
    if (!offer || !(await during(words.adding.adding, install(offer)))) return;
    setOffer(undefined);
    toast(words.adding.updated(name));
    onChanged();
  };
  const remove = async () => {
    const question = { title: words.removeTitle(name), words: words.removeWords, yes: text.basics.remove };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (await change("DELETE", `/api/skills/${encodeURIComponent(skill.name)}`)) toast(words.removed(name));
  };
  if (offer)
    return <SkillOffer of={offer} hint={hint} onAgree={update} onCancel={() => setOffer(undefined)} />;
  return (
    <span class="row">
      {ADDRESS.test(from) && (
        <Button
          label={words.updateIt(name)}
          class="small"
          disabled={hint !== ""}
          onClick={() => attempt(look)}
        />
      )}
      <Button label={words.remove(name)} class="small danger" onClick={remove} />
      <span role="status" class="soft">
        {hint}
      </span>
    </span>
  );
}
