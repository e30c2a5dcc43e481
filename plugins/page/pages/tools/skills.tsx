import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { Skill, SkillProblem } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { CompactCard } from "../../widgets/card.tsx";

const words = text.tools.skills;

interface SkillsProps {
  readonly of: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** The skills with whose words they are and what they want, and the folders that cannot be used. */
export function Skills({ of: skills, problems }: SkillsProps) {
  return (
    <>
      <h2>{words.title}</h2>
      <p class="soft">{skills.length + problems.length === 0 ? words.none : words.note}</p>
      <div class="tools">
        {skills.map((skill) => (
          <SkillCard key={skill.name} {...skill} />
        ))}
        {problems.map(({ folder, why }) => (
          <p key={`/${folder}`}>{visibleLine(words.broken(folder, why))}</p>
        ))}
      </div>
    </>
  );
}

function SkillCard({ name, description, source, from, ...skill }: Skill) {
  const { agreed_at: agreedAt, allowed_tools: allowed, required_tools: required, scripts } = skill;
  const facts = [
    source === "own" ? words.ownWords : words.strangersWords,
    ...(agreedAt === undefined ? [] : [words.agreed(from, agreedAt)]),
    ...(allowed ? [words.keeps(allowed)] : []),
    ...(required.length > 0 ? [words.requires(required)] : []),
    ...(scripts.length > 0 ? [words.runs(scripts)] : []),
  ];
  return (
    <CompactCard
      label={visibleLine(name)}
      title={visibleLine(name)}
      note={visibleLine(description)}
      tags={<span class="tag">{words.sources[source]}</span>}
    >
      <ul>
        {facts.map((fact) => (
          <li key={fact}>{visibleLine(fact)}</li>
        ))}
      </ul>
    </CompactCard>
  );
}
