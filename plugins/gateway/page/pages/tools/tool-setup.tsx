import { useEffect, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type Setup } from "../../state/wire.ts";
import { confirmed } from "../../widgets/dialog.tsx";

/** The secrets and sign-ins that a tool needs before it works. */
export function ToolSetup({ tool }: { tool: string }) {
  const [setup, setSetup] = useState<Setup>();
  const [warning, setWarning] = useState<string>();
  const load = async () => setSetup(await attempt(() => ask<Setup>("GET", `/api/tools/${tool}/setup`)));
  useEffect(() => void load(), [tool]);
  if (!setup || (setup.secrets.length === 0 && !setup.signs_in)) return null;

  const signIn = async () => {
    const begun = await attempt(() => ask<{ url: string }>("POST", `/api/tools/${tool}/sign-in`));
    if (begun) open(begun.url, "_blank", "noopener");
  };
  const share = async (name: string, question: string) => {
    if (!(await confirmed({ title: "Share this secret?", words: question, yes: "Let it" }))) return;
    await attempt(() => ask("POST", `/api/tools/${tool}/secrets/${name}/share`));
    await load();
  };
  const save = async (event: Event, { name }: Setup["secrets"][number]) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { value } = Object.fromEntries(new FormData(form));
    const saved = await attempt(() =>
      ask<{ warning?: string }>("PUT", `/api/tools/${tool}/secrets/${name}`, { value }),
    );
    setWarning(saved?.warning);
    form.reset();
    await load();
  };

  return (
    <details>
      <summary>
        Sign-in and secrets{setup.secrets.some(({ is_set }) => !is_set) ? " (incomplete)" : ""}
      </summary>
      {setup.secrets.map((secret) => (
        <form class="row" key={secret.name} onSubmit={(event) => void save(event, secret)}>
          <label for={`${tool}-${secret.name}`}>
            {secret.question} <span class="tag">{secret.is_set ? "set" : "missing"}</span>
          </label>
          <input id={`${tool}-${secret.name}`} name="value" type="password" required autocomplete="off" />
          <button type="submit">Save</button>
          {secret.shares && (
            <>
              <span>{secret.shares}</span>
              <button type="button" onClick={() => void share(secret.name, secret.shares ?? "")}>
                Let it
              </button>
            </>
          )}
          {secret.instructions && <span class="soft">{secret.instructions}</span>}
          {secret.url && /^https?:/.test(secret.url) && (
            <a href={secret.url} target="_blank" rel="noopener noreferrer">
              {secret.url}
            </a>
          )}
        </form>
      ))}
      {warning && <p role="alert">{warning}</p>}
      {setup.signs_in && (
        <button type="button" onClick={() => void signIn()}>
          Sign in
        </button>
      )}
    </details>
  );
}
