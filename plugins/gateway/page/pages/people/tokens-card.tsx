import { useState } from "preact/hooks";
import { expiresSoon, scopeInWords, whenInWords } from "../../../../../kernel/vocabulary/token-words.ts";
import { attempt, update } from "../../state/app.ts";
import { type Account, ask, type Token } from "../../state/wire.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { confirmed, entered } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";

interface Made {
  readonly token: string;
  readonly warnings: readonly string[];
}

interface TokensProps {
  readonly users: readonly Account[];
  /** Undefined until they are loaded. */
  readonly tokens: readonly Token[] | undefined;
  readonly onChange: () => Promise<void>;
}

/** People's tokens, what each may use, and the form for a new one. */
export function TokensCard({ users, tokens, onChange }: TokensProps) {
  const [made, setMade] = useState<Made | undefined>();

  const revoke = async ({ id, name, user }: Token) => {
    const title = `Revoke “${name}” of ${user}?`;
    const words = "Everyone using it is signed out.";
    if (!(await confirmed({ title, words, yes: "Revoke", danger: true }))) return;
    await attempt(() => ask("DELETE", `/api/tokens/${id}`));
    await onChange();
  };
  const expire = async ({ id, name, user }: Token) => {
    const given = await entered({
      title: `When does “${name}” of ${user} expire?`,
      label: "Days from now; leave empty for never",
      yes: "Save",
      optional: true,
    });
    if (given === undefined) return;
    const days = given.trim() === "" ? null : Number(given);
    if (Number.isNaN(days)) {
      update({ trouble: `“${given}” is not a number of days. The expiry was not changed.` });
      return;
    }
    await attempt(() => ask("PATCH", `/api/tokens/${id}`, { expires_in_days: days }));
    await onChange();
  };

  return (
    <section class="card">
      <h2>Tokens</h2>
      {made && (
        <p class="gate" role="status">
          <span>
            New token, shown only once: <code>{made.token}</code>{" "}
            <CopyButton text={made.token} what="the token" />
          </span>
          {made.warnings.map((warning) => (
            <span key={warning}>{warning}</span>
          ))}
        </p>
      )}
      {tokens?.length === 0 && (
        <p class="soft">No tokens yet. Create one below so that somebody can sign in.</p>
      )}
      <List columns={["User", "Name and use", "Last used", "Expires"]} isHidden={!tokens?.length}>
        {tokens?.map((token) => (
          <tr key={token.id}>
            <td>{token.user}</td>
            <td>
              {token.name}
              <span class="meta">{scopeInWords({ ...token, perDayUsd: token.per_day_usd })}</span>
            </td>
            <td>{when(token.last_used_at, "never")}</td>
            <td>
              {token.revoked_at ? "revoked" : when(token.expires_at, "never")}
              {token.expires_at &&
                expiresSoon({ expiresAt: token.expires_at, revokedAt: token.revoked_at }) && (
                  <span class="meta">expires {whenInWords(token.expires_at)}</span>
                )}
            </td>
            <td>
              {!token.revoked_at && (
                <span class="row">
                  <button type="button" onClick={() => void expire(token)}>
                    Change expiry
                  </button>
                  <button type="button" class="danger" onClick={() => void revoke(token)}>
                    Revoke
                  </button>
                </span>
              )}
            </td>
          </tr>
        ))}
      </List>
      <TokenForm
        users={users}
        onMade={async (token) => {
          setMade(token);
          await onChange();
        }}
      />
    </section>
  );
}

const TOOLS = { all: "all tools", none: "no tools", some: "only these tools" } as const;

function TokenForm({ users, onMade }: { users: readonly Account[]; onMade: (made: Made) => Promise<void> }) {
  const [tools, setTools] = useState<keyof typeof TOOLS>("all");

  const add = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const field = (name: string) => String(new FormData(form).get(name) ?? "").trim();
    const names = (name: string) =>
      field(name)
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "");
    const number = (name: string) => (field(name) === "" ? null : Number(field(name)));
    const models = names("models");
    const made = await attempt(() =>
      ask<Made>("POST", "/api/tokens", {
        user: field("user"),
        name: field("name"),
        tools: tools === "some" ? names("tools") : tools,
        models: models.length > 0 ? models : null,
        per_day_usd: number("per_day_usd"),
        expires_in_days: number("expires_in_days"),
      }),
    );
    if (!made) return;
    form.reset();
    setTools("all");
    await onMade(made);
  };

  return (
    <form class="row" onSubmit={(event) => void add(event)}>
      <select name="user" required aria-label="User">
        {users.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </select>
      <input name="name" required aria-label="Name of the token" placeholder="what it is for" />
      <select
        aria-label="Tools it may use"
        value={tools}
        onChange={({ currentTarget: { value } }) => setTools(value as keyof typeof TOOLS)}
      >
        {Object.entries(TOOLS).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      {tools === "some" && (
        <input name="tools" required aria-label="Names of the tools" placeholder="weather, memory_read" />
      )}
      <input name="models" aria-label="Models it may use" placeholder="all models, or names" />
      <input
        name="per_day_usd"
        type="number"
        min="0"
        step="any"
        aria-label="US dollars per day"
        placeholder="US dollars per day"
      />
      <input
        name="expires_in_days"
        type="number"
        min="0"
        step="any"
        aria-label="Expires in days"
        placeholder="expires in days"
      />
      <button type="submit">Create token</button>
    </form>
  );
}

function when(time: string | null, otherwise: string): string {
  return time ? new Date(time).toLocaleString() : otherwise;
}
