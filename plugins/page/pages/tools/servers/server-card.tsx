import Server from "lucide/dist/esm/icons/server.mjs";
import { useState } from "preact/hooks";
import { changeThen, request } from "../../../state/app.ts";
import { useHint } from "../../../state/use-app.ts";
import { ask, type McpServer, type McpTool, type Tool } from "../../../state/wire.ts";
import { text } from "../../../text/text.ts";
import { CompactCard } from "../../../widgets/card.tsx";
import { Button, type Fields, Form } from "../../../widgets/controls.tsx";
import { confirmed } from "../../../widgets/dialog.tsx";
import { Differences } from "../../../widgets/differences.tsx";
import { toast } from "../../../widgets/toast.tsx";
import { Decision, type Remembered } from "../decision.tsx";
import { Receipts } from "../receipts.tsx";
import { plainName } from "../tool-names.ts";

const words = text.tools.servers;

interface ServerCardProps {
  readonly server: McpServer;
  readonly tools: readonly Tool[];
  readonly remembered: Remembered;
  readonly isOperator: boolean;
  /** The tool that the address names. */
  readonly shown: string | undefined;
  onChanged(): void;
}

const isBad = ({ status }: McpServer) => status === "unreachable" || status === "unauthenticated";

export function ServerCard({ server, tools, remembered, isOperator, shown, onChanged }: ServerCardProps) {
  const { hint, setHint, during } = useHint();
  const { name, kind, address, status, detail, revision } = server;
  const path = `/api/mcp/servers/${name}`;
  const held = server.tools.filter(({ state }) => state === "held");
  const change = changeThen(onChanged);
  // Sends the digests that are on the screen, since the server may have changed its tools by now.
  const agree = (shown: readonly McpTool[]) =>
    change("POST", `${path}/agree`, { tools: shown.map(({ tool, digest }) => ({ tool, digest })) });
  const test = async () => {
    const found = await during(words.connecting, change<McpServer>("POST", `${path}/test`));
    if (found) setHint(words.answers(found.tools.length));
  };
  const remove = async () => {
    const question = {
      title: text.tools.removeTitle(name),
      words: words.removeWords,
      yes: text.basics.remove,
    };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (await change("DELETE", path)) toast(text.tools.removed(name));
  };

  return (
    <CompactCard
      label={words.label(name)}
      title={plainName(name)}
      icon={Server}
      note={<code>{address}</code>}
      more={words.tools(server.tools.length)}
      isOpen={held.length > 0 || server.tools.some((tool) => tool.name === shown)}
      tags={
        <>
          <span class="tag">{words.kinds[kind]}</span>
          <span class={`tag ${isBad(server) ? "failed" : status === "connected" ? "good" : ""}`}>
            {words.statuses[status]}
          </span>
          {held.length > 0 && <span class="tag failed">{words.held(held.length)}</span>}
          {revision && <span class="tag">{revision}</span>}
        </>
      }
      warning={
        <>
          {detail && <p class={isBad(server) ? "trouble" : "soft"}>{detail}</p>}
          <ServerSignIn server={server} isOperator={isOperator} onChanged={onChanged} />
        </>
      }
    >
      {held.length > 1 && isOperator && (
        <span class="row">
          <Button label={words.agreeAll(held.length)} onClick={() => agree(held)} />
        </span>
      )}
      {server.tools.length === 0 && <p class="soft">{words.noTools}</p>}
      {server.tools.map((tool) => (
        <ServerTool
          key={tool.name}
          tool={tool}
          fingerprint={tools.find((known) => known.name === tool.name)?.fingerprint}
          remembered={remembered[tool.name]}
          onAgree={isOperator ? () => void agree([tool]) : undefined}
          onChanged={onChanged}
        />
      ))}
      {isOperator && (
        <>
          <ServerFile name={name} onSaved={onChanged} />
          <span class="row">
            <Button label={words.test} class="small" disabled={hint === words.connecting} onClick={test} />
            <Button label={text.tools.removeTool(name)} class="small danger" onClick={remove} />
            <span role="status">{hint}</span>
          </span>
        </>
      )}
    </CompactCard>
  );
}

/** The operator's file of a server as text: its tools, approvals, limits and credentials. */
function ServerFile({ name, onSaved }: { name: string; onSaved(): void }) {
  const [file, setFile] = useState<string>();
  const path = `/api/mcp/servers/${name}/file`;
  const load = async () => setFile((await request<{ file: string }>("GET", path))?.file);
  const save = async () => {
    await ask("PUT", path, { file });
    toast(text.basics.saved);
    onSaved();
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && file === undefined && void load()}>
      <summary>{words.editFile}</summary>
      {file !== undefined && (
        <Form class="stack" onSubmit={save}>
          <textarea
            class="editor"
            aria-label={words.file(name)}
            spellcheck={false}
            value={file}
            onInput={(event) => setFile(event.currentTarget.value)}
          />
          <span class="row">
            <Button label={text.basics.save} type="submit" />
          </span>
        </Form>
      )}
    </details>
  );
}

interface ServerSignInProps {
  readonly server: McpServer;
  readonly isOperator: boolean;
  onChanged(): void;
}

/** Signs in to a server, or takes a pasted token: for the user, or by the operator for everybody. */
function ServerSignIn({ server, isOperator, onChanged }: ServerSignInProps) {
  const { name, signs_in: signsIn, is_signed_in: isSignedIn, per_user: perUser } = server;
  const path = `/api/mcp/servers/${name}`;
  if (!signsIn) return null;
  const change = changeThen(onChanged);
  const signIn = async () => {
    const begun = await request<{ url: string }>("POST", `${path}/sign-in`);
    if (begun) open(begun.url, "_blank", "noopener,noreferrer");
  };
  const save = ({ token }: Fields, form: HTMLFormElement) => {
    form.reset();
    return change("PUT", `${path}/token`, { token });
  };
  const mayChange = perUser || isOperator;
  const signedIn = perUser ? words.youSignedIn : words.allSignedIn;
  const notSignedIn = perUser ? words.youNotSignedIn : mayChange ? words.allNotSignedIn : words.operatorCan;
  return (
    <>
      <span class="row">
        {isSignedIn ? signedIn : notSignedIn}
        {mayChange && (
          <Button label={words.signIn} class="small" aria-label={words.signInAt(name)} onClick={signIn} />
        )}
        {mayChange && isSignedIn && (
          <Button label={words.signOut} class="small" onClick={() => change("DELETE", `${path}/token`)} />
        )}
      </span>
      {mayChange && (
        <details>
          <summary>{words.paste}</summary>
          <Form class="row" onSubmit={save}>
            <input
              name="token"
              type="password"
              required
              autocomplete="off"
              aria-label={words.tokenFor(name)}
            />
            <Button label={text.basics.save} type="submit" />
          </Form>
        </details>
      )}
    </>
  );
}

interface ServerToolProps {
  readonly tool: McpTool;
  readonly fingerprint: string | undefined;
  readonly remembered: "allow" | "deny" | undefined;
  /** Undefined for people who may not agree. */
  readonly onAgree: (() => void) | undefined;
  onChanged(): void;
}

/** A tool of a server: its description, and the changes if it is held back. */
function ServerTool({ tool, fingerprint, remembered, onAgree, onChanged }: ServerToolProps) {
  const { name, description, state, warnings, change } = tool;
  const known = { name, fingerprint };
  return (
    <section class="tool" id={`tool-${name}`} aria-label={name} tabIndex={-1}>
      <h4>
        {name}
        <span class={`tag ${state === "held" ? "failed" : ""}`}>{words.states[state]}</span>
        {tool.read_only && <span class="tag">{words.readOnly}</span>}
      </h4>
      <p class="soft">{description ? words.says(description) : words.saysNothing}</p>
      {warnings.map((warning) => (
        <p class="banner" key={warning}>
          {warning}
        </p>
      ))}
      {state === "held" && (
        <div class="trouble">
          <span>{change ? words.changed : words.notAgreed}</span>
          {change && <Differences lines={change.differences} />}
          {onAgree && (
            <span class="row">
              <Button label={words.agreeTo(name)} onClick={onAgree} />
            </span>
          )}
        </div>
      )}
      {state === "asks" && tool.read_only && onAgree && (
        <span class="row">
          <Button label={words.letRun(name)} class="small" onClick={onAgree} />
        </span>
      )}
      {(state === "runs" || state === "asks") && (
        <Decision tool={known} asks={state === "asks"} remembered={remembered} onChanged={onChanged} />
      )}
      <details>
        <summary>{words.parameters}</summary>
        <pre class="log">{JSON.stringify(tool.schema, null, 2)}</pre>
      </details>
      <Receipts tool={name} />
    </section>
  );
}
