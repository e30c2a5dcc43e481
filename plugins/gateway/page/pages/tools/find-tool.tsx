import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type ListedTool, type ToolFinding } from "../../state/wire.ts";
import { Proposal } from "./proposal.tsx";

interface Listing {
  readonly tools: readonly ListedTool[];
  readonly problems: readonly string[];
}

/** Installs a tool from an index or registry, after showing who signed it and what it may do. */
export function FindTool({
  installed,
  onInstalled,
}: {
  readonly installed: readonly string[];
  onInstalled(): void;
}) {
  const [from, setFrom] = useState("");
  const [hint, setHint] = useState("");
  const [found, setFound] = useState<ToolFinding>();
  const [listed, setListed] = useState<Listing>();

  const find = async (wanted: string) => {
    setFrom(wanted);
    setHint("Getting it and checking it…");
    const finding = await attempt(() => ask<ToolFinding>("POST", "/api/tools/find", { from: wanted }));
    setHint("");
    setFound(finding);
  };
  const search = async () => {
    setHint("Searching…");
    const listing = await attempt(() =>
      ask<Listing>("GET", `/api/tool-index?q=${encodeURIComponent(from.trim().slice(0, 200))}`),
    );
    setHint("");
    setListed(listing);
  };
  const install = async () => {
    if (!found) return;
    setHint("Installing…");
    const isDone = await attempt(() =>
      ask("POST", "/api/tools/install", {
        from: from.trim(),
        name: found.name,
        digest: found.origin.digest,
        replace: found.replaces !== undefined,
        allow_unsigned: !found.signed,
      }),
    );
    setHint("");
    if (!isDone) return;
    setFound(undefined);
    setFrom("");
    onInstalled();
  };

  if (found) {
    return (
      <Proposal
        name={found.name}
        proposal={found}
        hint={hint}
        onAgree={() => void install()}
        onCancel={() => setFound(undefined)}
      >
        {found.signature !== "" && (
          <p class={found.signed ? "soft" : "failed"}>{sentence(found.signature)}</p>
        )}
        <p class="soft">
          From {found.origin.reference}, {found.origin.digest}
        </p>
      </Proposal>
    );
  }
  return (
    <>
      <form
        class="row find"
        aria-label="Install a tool by its name"
        onSubmit={(event) => {
          event.preventDefault();
          void find(from.trim());
        }}
      >
        <input
          type="text"
          required
          maxLength={2048}
          spellcheck={false}
          placeholder="oci://…, https://…, npm:…, a name, or words to search for"
          aria-label="Where the tool is"
          value={from}
          onInput={(event) => setFrom(event.currentTarget.value)}
        />
        <button type="submit" disabled={hint !== ""}>
          Look at it
        </button>
        <button type="button" disabled={hint !== ""} onClick={() => void search()}>
          Search
        </button>
        <span role="status">{hint}</span>
      </form>
      {listed && (
        <section aria-label="Tools that can be installed">
          {listed.problems.map((problem) => (
            <p key={problem} class="failed">
              {problem}
            </p>
          ))}
          {listed.tools.length === 0 && <p class="soft">No tool was found.</p>}
          {listed.tools.map(({ name, about, from: place, index }) => (
            <article key={`${index} ${name}`} class="found">
              <p>
                <strong>{name}</strong> {about}{" "}
                <span class="soft">{index === "shipped" ? "Comes with Postern." : `From ${place}.`}</span>
              </p>
              {installed.includes(name) ? (
                <span class="tag">installed</span>
              ) : (
                <button type="button" disabled={hint !== ""} onClick={() => void find(name)}>
                  Install {name}
                </button>
              )}
            </article>
          ))}
        </section>
      )}
    </>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
