import Globe from "lucide/dist/esm/icons/globe.mjs";
import SquareTerminal from "lucide/dist/esm/icons/square-terminal.mjs";
import { useRef, useState } from "preact/hooks";
import { useHint, useLoaded } from "../../../state/use-app.ts";
import { ask, type ServerListing } from "../../../state/wire.ts";
import { text } from "../../../text/text.ts";
import { Button, type Fields, Form } from "../../../widgets/controls.tsx";
import { Field } from "../../../widgets/field.tsx";
import { Icon } from "../../../widgets/icon.tsx";
import { toast } from "../../../widgets/toast.tsx";

import { plainName } from "../tool-names.ts";

const words = text.tools.servers;

type Kind = "url" | "command";

/** Adds a server by its address, or as a command on this machine, with a warning about the risk. */
export function AddServer({ onAdded }: { onAdded(): void }) {
  const [kind, setKind] = useState<Kind>("url");
  const [chosen, setChosen] = useState("");
  const form = useRef<HTMLDivElement>(null);
  const [listing] = useLoaded<ServerListing>("/api/mcp/index");
  const { hint, during } = useHint();
  const listed = listing?.servers.find(({ name }) => name === chosen);
  const choose = (name: string) => {
    setChosen(name);
    setKind(listing?.servers.find((one) => one.name === name)?.command ? "command" : "url");
    // It lies below the cards.
    if (name) requestAnimationFrame(() => form.current?.querySelector("input")?.focus());
  };
  const add = async (fields: Fields, form: HTMLFormElement) => {
    const field = (name: string) => (fields[name] ?? "").trim();
    const body = {
      name: field("name"),
      ...(kind === "url"
        ? { url: field("url") }
        : { command: linesOf(field("command")), env: envOf(field("env")) }),
      token: field("token") || undefined,
      per_user: "per_user" in fields || undefined,
      agree: "agree" in fields,
    };
    await during(words.connecting, ask("POST", "/api/mcp/servers", body));
    form.reset();
    toast(words.added(body.name));
    onAdded();
  };
  return (
    <details>
      <summary>{words.add}</summary>
      <div class="fields">
        {listing && listing.servers.length > 0 && (
          <>
            <p class="soft">{words.listed(listing.date)}</p>
            <ul class="known">
              {listing.servers.map(({ name, about, command }) => (
                <li key={name}>
                  <button
                    type="button"
                    aria-pressed={name === chosen}
                    onClick={() => choose(name === chosen ? "" : name)}
                  >
                    <Icon of={command ? SquareTerminal : Globe} />
                    <b>{plainName(name)}</b>
                    <span class="soft">{about}</span>
                  </button>
                </li>
              ))}
            </ul>
            {listing.problems.map((problem) => (
              <p key={problem} class="wrong">
                {problem}
              </p>
            ))}
            {listed && <p class="soft">{neededBy(listed)}</p>}
          </>
        )}
        <div ref={form}>
          <Form key={chosen} class="fields" onSubmit={add}>
            <Field label={words.name} name="name" help={words.nameHelp}>
              {(field) => (
                <input
                  {...field}
                  required
                  pattern="[a-z0-9\-]{1,32}"
                  autocomplete="off"
                  spellcheck={false}
                  defaultValue={listed?.name}
                />
              )}
            </Field>
            <fieldset class="row">
              <legend class="unseen">{words.reach}</legend>
              <label class="check">
                <input type="radio" name="kind" checked={kind === "url"} onChange={() => setKind("url")} />
                {words.byAddress}
              </label>
              <label class="check">
                <input
                  type="radio"
                  name="kind"
                  checked={kind === "command"}
                  onChange={() => setKind("command")}
                />
                {words.byCommand}
              </label>
            </fieldset>
            {kind === "url" ? (
              <>
                <Field label={words.address} name="url">
                  {(field) => (
                    <input
                      {...field}
                      type="url"
                      required
                      placeholder={words.addressExample}
                      defaultValue={listed?.url}
                    />
                  )}
                </Field>
                <Field label={words.token} name="token" help={words.tokenHelp}>
                  {(field) => <input {...field} type="password" autocomplete="off" />}
                </Field>
                <label class="check">
                  <input type="checkbox" name="per_user" />
                  {words.perUser}
                </label>
              </>
            ) : (
              <>
                <p class="banner">{words.commandWarning}</p>
                <Field label={words.command} name="command">
                  {(field) => (
                    <textarea {...field} required rows={3} defaultValue={listed?.command?.join("\n")} />
                  )}
                </Field>
                <Field label={words.env} name="env" help={words.envHelp}>
                  {(field) => (
                    <textarea
                      {...field}
                      rows={2}
                      defaultValue={listed?.env.map((name) => `${name}=`).join("\n")}
                    />
                  )}
                </Field>
              </>
            )}
            <label class="check">
              <input type="checkbox" name="agree" />
              {words.agree}
            </label>
            <span class="row">
              <Button label={text.basics.add} type="submit" class="primary" disabled={hint !== ""} />
              <span role="status" class="soft">
                {hint}
              </span>
            </span>
          </Form>
        </div>
      </div>
    </details>
  );
}

function neededBy({ sign_in, asks, env, page }: ServerListing["servers"][number]): string {
  const needs = [
    ...(sign_in === "browser" ? [words.signInAfter] : []),
    ...(sign_in === "token" ? [words.takesToken] : []),
    ...asks.map(words.oneMoreLine),
    ...(env.length > 0 ? [words.fillIn(env)] : []),
    ...(page ? [words.see(page)] : []),
  ];
  return needs.join(" ");
}

const linesOf = (given: string): readonly string[] => given.split("\n").filter((line) => line.trim() !== "");

function envOf(given: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    linesOf(given).map((line) => {
      const at = line.indexOf("=");
      return at === -1 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
    }),
  );
}
