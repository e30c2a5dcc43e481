import { useEffect, useState } from "preact/hooks";
import { attempt } from "../app.ts";
import { Bar } from "../frame/bar.tsx";
import { List } from "../frame/list.tsx";
import { type Account, ask, type BrowserSession, type Token } from "../wire.ts";
import { SessionsCard } from "./sessions-card.tsx";
import { UsersCard } from "./users-card.tsx";

export function PeoplePage() {
  const [users, setUsers] = useState<readonly Account[]>([]);
  const [tokens, setTokens] = useState<readonly Token[]>([]);
  const [sessions, setSessions] = useState<readonly BrowserSession[]>([]);
  const [secret, setSecret] = useState("");

  const load = async () => {
    const people = await attempt(() => ask<{ users: readonly Account[] }>("GET", "/api/users"));
    const keys = await attempt(() => ask<{ tokens: readonly Token[] }>("GET", "/api/tokens"));
    const browsers = await attempt(() =>
      ask<{ sessions: readonly BrowserSession[] }>("GET", "/api/sessions"),
    );
    if (browsers) setSessions(browsers.sessions);
    if (people) setUsers(people.users);
    if (keys) setTokens(keys.tokens);
  };
  useEffect(() => void load(), []);

  const addToken = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { user, name } = Object.fromEntries(new FormData(form));
    const made = await attempt(() => ask<{ token: string }>("POST", "/api/tokens", { user, name }));
    if (!made) return;
    form.reset();
    setSecret(made.token);
    await load();
  };
  const revoke = async ({ id, name, user }: Token) => {
    if (!confirm(`Revoke “${name}” of ${user}? Everyone using it is signed out.`)) return;
    await attempt(() => ask("DELETE", `/api/tokens/${id}`));
    await load();
  };

  const expire = async ({ id, name, user }: Token) => {
    const given = prompt(`In how many days does “${name}” of ${user} expire? Leave empty for never.`);
    if (given === null) return;
    const days = given.trim() === "" ? null : Number(given);
    await attempt(() => ask("PATCH", `/api/tokens/${id}`, { expires_in_days: days }));
    await load();
  };

  return (
    <>
      <Bar title="People" />
      <div class="page">
        <div>
          <UsersCard users={users} onChange={load} />
          <section class="card">
            <h2>Tokens</h2>
            {secret && (
              <p class="gate" role="status">
                New token, shown only once: <code>{secret}</code>
              </p>
            )}
            <List columns={["User", "Name", "Last used", "Expires"]}>
              {tokens.map((token) => (
                <tr key={token.id}>
                  <td>{token.user}</td>
                  <td>{token.name}</td>
                  <td>{when(token.last_used_at, "never")}</td>
                  <td>{token.revoked_at ? "revoked" : when(token.expires_at, "never")}</td>
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
            <form class="row" onSubmit={(event) => void addToken(event)}>
              <select name="user" required aria-label="User">
                {users.map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
              <input name="name" required aria-label="Name of the token" placeholder="what it is for" />
              <button type="submit">Create token</button>
            </form>
          </section>
          <SessionsCard sessions={sessions} onChange={load} />
        </div>
      </div>
    </>
  );
}

function when(time: string | null, otherwise: string): string {
  return time ? new Date(time).toLocaleString() : otherwise;
}
