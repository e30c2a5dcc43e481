import Search from "lucide/dist/esm/icons/search.mjs";
import { useState } from "preact/hooks";
import { attempt, request } from "../../state/app.ts";
import { useHint } from "../../state/use-app.ts";
import { ask, type Routes, type ToolFinding } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, Form } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";
import { toast } from "../../widgets/toast.tsx";
import { Proposal } from "./proposal.tsx";
import { plainName } from "./tool-names.ts";

const words = text.tools.find;

type Listing = Routes["GET /api/tool-index"]["answer"];

interface FindToolProps {
  readonly installed: readonly string[];
  onInstalled(): void;
}

/** Installs a tool from an index or registry, after showing who signed it and what it may do. */
export function FindTool({ installed, onInstalled }: FindToolProps) {
  const [from, setFrom] = useState("");
  const { hint, during } = useHint();
  const [found, setFound] = useState<ToolFinding>();
  const [listed, setListed] = useState<Listing>();

  const find = async (wanted: string) => {
    setFrom(wanted);
    setFound(await during(words.checking, ask<ToolFinding>("POST", "/api/tools/find", { from: wanted })));
  };
  const search = async () => {
    const path = `/api/tool-index?q=${encodeURIComponent(from.trim().slice(0, 200))}`;
    setListed(await during(words.searching, request<Listing>("GET", path)));
  };
  const install = async () => {
    if (!found) return;
    const body = {
      from: from.trim(),
      name: found.name,
      digest: found.origin.digest,
      replace: found.replaces !== undefined,
      allow_unsigned: !found.signed,
    };
    if (!(await during(words.installing, request("POST", "/api/tools/install", body)))) return;
    setFound(undefined);
    setFrom("");
    toast(text.tools.proposal.installed(found.name));
    onInstalled();
  };

  if (found) {
    return (
      <Proposal
        name={found.name}
        proposal={found}
        hint={hint}
        onAgree={install}
        onCancel={() => setFound(undefined)}
      >
        {found.signature !== "" && (
          <p class={found.signed ? "soft" : "failed"}>{sentence(found.signature)}</p>
        )}
        <p class="soft">{words.origin(found.origin.reference, found.origin.digest)}</p>
      </Proposal>
    );
  }
  return (
    <>
      <Form class="fields" aria-label={words.label} onSubmit={() => find(from.trim())}>
        <Field label={words.where} name="from" help={words.help}>
          {(field) => (
            <input
              {...field}
              required
              maxLength={2048}
              spellcheck={false}
              autocomplete="off"
              value={from}
              onInput={(event) => setFrom(event.currentTarget.value)}
            />
          )}
        </Field>
        <span class="row">
          <Button label={words.search} icon={Search} disabled={hint !== ""} onClick={search} />
          <Button label={words.look} type="submit" disabled={hint !== ""} />
          <span role="status" class="soft">
            {hint}
          </span>
        </span>
      </Form>
      {listed && (
        <section aria-label={words.list}>
          {listed.problems.map((problem) => (
            <p key={problem} class="failed">
              {problem}
            </p>
          ))}
          {listed.tools.length === 0 && <p class="soft">{words.nothing}</p>}
          {listed.tools.map(({ name, about, from: place, index }) => (
            <article key={`${index} ${name}`} class="found">
              <p>
                <strong>{plainName(name)}</strong> {about}{" "}
                <span class="soft">{index === "shipped" ? words.shipped : words.from(place)}</span>
              </p>
              {installed.includes(name) ? (
                <span class="tag good">{words.installed}</span>
              ) : (
                <Button
                  label={words.install(name)}
                  class="small"
                  disabled={hint !== ""}
                  onClick={() => attempt(() => find(name))}
                />
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
