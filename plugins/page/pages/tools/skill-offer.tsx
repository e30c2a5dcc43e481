import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { SkillProposal } from "../../state/wire.ts";
import { bytes } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Differences } from "../../widgets/differences.tsx";
import { AgreeOrCancel } from "./proposal.tsx";

const words = text.tools.skills.adding;
const { skills } = text.tools;

interface SkillOfferProps {
  readonly of: SkillProposal;
  /** The action in progress; the button is disabled meanwhile. */
  readonly hint: string;
  onAgree(): unknown;
  onCancel(): unknown;
}

/** Shows what a skill brings before it is added, or what changed before it is updated. All of it is a stranger's text. */
export function SkillOffer({ of: offer, hint, onAgree, onCancel }: SkillOfferProps) {
  const { replaces } = offer;
  const name = visibleLine(offer.name);
  const title = replaces ? words.update(name) : words.add(name);
  return (
    <section class="proposal" aria-label={title}>
      <strong>{title}</strong>
      <p>“{visibleLine(offer.description)}”</p>
      {offer.orders.length > 0 && (
        <p class="failed">{words.orders(offer.orders.map((order) => visibleLine(order)))}</p>
      )}
      {offer.signature !== undefined && (
        <p class={offer.signed ? "soft" : "failed"}>{words.signature(visibleLine(offer.signature))}</p>
      )}
      {replaces?.signer !== undefined && (
        <p class="failed">{words.otherSigner(visibleLine(replaces.signer))}</p>
      )}
      <ul>
        {factsOf(offer).map((fact) => (
          <li key={fact}>{visibleLine(fact)}</li>
        ))}
      </ul>
      {replaces ? (
        <Changes of={replaces} />
      ) : (
        offer.scripts.map(({ path, lines, count }) => (
          <details key={path} class="script" open>
            <summary>{visibleLine(path)}</summary>
            <pre class="log">{lines.map((line) => visibleLine(line)).join("\n")}</pre>
            {count > lines.length && <p class="soft">{words.moreLines(count - lines.length)}</p>}
          </details>
        ))
      )}
      <p class="soft digest">{words.origin(visibleLine(offer.from), offer.digest)}</p>
      <AgreeOrCancel label={replaces ? words.yes.update : words.yes.add} {...{ hint, onAgree, onCancel }} />
    </section>
  );
}

function factsOf(offer: SkillProposal): readonly string[] {
  const { allowed_tools: allowed, unknown_tools: unknown, required_tools: required, scripts } = offer;
  return [
    allowed ? skills.keeps(allowed) : skills.keepsAll,
    ...(unknown.length > 0 ? [words.unknownTools(unknown)] : []),
    ...(required.length > 0 ? [skills.requires(required)] : []),
    ...(scripts.length > 0 ? [skills.runs(scripts.map(({ path }) => path))] : [words.runsNothing]),
    ...(offer.more_scripts > 0 ? [words.moreScripts(offer.more_scripts)] : []),
    ...(offer.not_runnable.length > 0 ? [words.onlyRead(offer.not_runnable)] : []),
    ...(offer.compatibility ? [words.needs(offer.compatibility)] : []),
    ...(offer.license ? [words.license(offer.license)] : []),
    words.size(offer.files, bytes(offer.bytes)),
    skills.strangersWords,
  ];
}

function Changes({ of: changes }: { of: NonNullable<SkillProposal["replaces"]> }) {
  const { added, removed, changed, differences } = changes;
  return (
    <>
      <ul>
        {added.length > 0 && <li>{visibleLine(words.newFiles(added))}</li>}
        {removed.length > 0 && <li>{visibleLine(words.goneFiles(removed))}</li>}
        {changed.length > 0 && <li>{visibleLine(words.changedFiles(changed))}</li>}
      </ul>
      {differences.map(({ path, lines, count }) => (
        <section key={path} aria-label={visibleLine(path)}>
          <h4>{visibleLine(path)}</h4>
          <Differences lines={lines.map((line) => visibleLine(line))} />
          {count > lines.length && <p class="soft">{words.moreLines(count - lines.length)}</p>}
        </section>
      ))}
    </>
  );
}
