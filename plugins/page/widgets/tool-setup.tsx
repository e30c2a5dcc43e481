import { useState } from "preact/hooks";
import { changeThen, findQuietly, request } from "../state/app.ts";
import { useLoaded } from "../state/use-app.ts";
import type { Setup } from "../state/wire.ts";
import { text } from "../text/text.ts";
import { Button, Form } from "./controls.tsx";
import { confirmed } from "./dialog.tsx";

const words = text.widgets.setup;

const needsNothing = ({ secrets, settings = [], signs_in }: Setup): boolean =>
  secrets.length + settings.length === 0 && !signs_in;

/** The settings and secrets without which it does not work. */
export const missingIn = ({ secrets, settings = [] }: Setup): readonly string[] =>
  [
    ...settings.filter(
      ({ is_required, value, is_default }) => is_required && is_default && value === undefined,
    ),
    ...secrets.filter(({ is_set, is_required }) => is_required && !is_set),
  ].map(({ name }) => name);

const isIncomplete = (setup: Setup): boolean => missingIn(setup).length > 0;

/** The address of what a tool needs: for all users, or for the one who is signed in. */
export const setupPath = (tool: string, isOwn: boolean): string => `/api/tools/${tool}${isOwn ? "/own" : ""}`;

/** The settings, secrets and sign-ins that a tool needs before it works, folded away. */
export function ToolSetup({ isOwn, setup, ...rest }: SetupFormsProps) {
  const [isOpen, setOpen] = useState(false);
  if (needsNothing(setup)) return null;
  const title = setup.settings?.length ? words.withSettings : words.withoutSettings;
  const whose = isOwn ? words.own : title;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{isIncomplete(setup) ? words.incomplete(whose) : whose}</summary>
      {isOwn && <p class="soft">{words.ownWords}</p>}
      {isOpen && <SetupForms isOwn={isOwn} setup={setup} {...rest} />}
    </details>
  );
}

interface SetupAtGateProps {
  readonly tool: string;
  readonly isOwn: boolean;
  /** Shown where the tool is not one of those that are set up here. */
  readonly otherwise?: string;
}

/** The same where a call waits for it. */
export function SetupAtGate({ tool, isOwn, otherwise }: SetupAtGateProps) {
  const [setup, load] = useLoaded<Setup>(`${setupPath(tool, isOwn)}/setup`, findQuietly);
  if (setup) return <SetupForms tool={tool} isOwn={isOwn} setup={setup} load={load} />;
  return otherwise === undefined ? null : <span class="soft">{otherwise}</span>;
}

interface SetupFormsProps {
  readonly tool: string;
  readonly isOwn: boolean;
  readonly setup: Setup;
  load(): Promise<void>;
}

function SetupForms({ tool, isOwn, setup, load }: SetupFormsProps) {
  const [warning, setWarning] = useState<string>();
  const settings = setup.settings ?? [];
  const change = changeThen(load);
  const base = setupPath(tool, isOwn);
  const idOf = (name: string) => `${tool}${isOwn ? "-own" : ""}-${name}`;
  const signIn = async () => {
    const begun = await request<{ url: string }>("POST", `${base}/sign-in`);
    if (begun) open(begun.url, "_blank", "noopener,noreferrer");
  };
  const share = async (name: string, question: string) => {
    if (await confirmed({ title: words.shareTitle, words: question, yes: words.letIt }))
      await change("POST", `${base}/secrets/${name}/share`);
  };
  const save = async (name: string, value: string | undefined) => {
    const saved = await change<{ warning?: string }>("PUT", `${base}/secrets/${name}`, { value });
    setWarning(saved?.warning);
  };
  const set = async (name: string, value: string, agreed = false): Promise<void> => {
    const path = `${base}/settings/${name}`;
    const given = isOwn ? { value } : { value, agreed };
    const answer = await change<{ saved: boolean; asks?: string[] }>("PUT", path, given);
    if (!answer || answer.saved) return;
    const asked = words.withThisValue(answer.asks ?? []);
    if (await confirmed({ title: words.moreTitle, words: asked, yes: words.letIt }))
      await set(name, value, true);
  };
  return (
    <>
      {settings.map(({ name, description, value, is_required, is_default, is_own }) => (
        <Form class="row" key={name} onSubmit={(given) => set(name, given["value"] ?? "")}>
          <label for={idOf(name)}>
            {name} {is_own && <span class="tag">{words.yours}</span>}
            {is_default && (
              <span class="tag">
                {value !== undefined ? words.default : is_required ? words.missing : words.notSet}
              </span>
            )}
          </label>
          <input id={idOf(name)} name="value" value={value ?? ""} maxlength={2000} autocomplete="off" />
          <Button label={text.basics.save} type="submit" />
          <span class="soft">{description}</span>
        </Form>
      ))}
      {setup.secrets.map((secret) => (
        <Form
          class="row"
          key={secret.name}
          onSubmit={({ value }, form) => {
            form.reset();
            return save(secret.name, value);
          }}
        >
          <label for={idOf(secret.name)}>
            {secret.question}{" "}
            <span class="tag">
              {secret.is_own
                ? words.yours
                : secret.is_set
                  ? words.set
                  : secret.is_required
                    ? words.missing
                    : words.notSet}
            </span>
          </label>
          <input id={idOf(secret.name)} name="value" type="password" required autocomplete="off" />
          <Button label={text.basics.save} type="submit" />
          {secret.is_own && (
            <Button
              label={text.basics.remove}
              onClick={() => change("DELETE", `${base}/secrets/${secret.name}`)}
            />
          )}
          {secret.shares && (
            <>
              <span>{secret.shares}</span>
              <Button label={words.letIt} onClick={() => share(secret.name, secret.shares ?? "")} />
            </>
          )}
          {secret.instructions && <span class="soft">{secret.instructions}</span>}
          {secret.url && /^https?:/.test(secret.url) && (
            <a href={secret.url} target="_blank" rel="noopener noreferrer">
              {secret.url}
            </a>
          )}
        </Form>
      ))}
      {warning && <p role="alert">{warning}</p>}
      {setup.signs_in && <Button label={words.signIn} onClick={signIn} />}
    </>
  );
}
