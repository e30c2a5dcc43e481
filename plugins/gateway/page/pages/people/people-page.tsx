import { useEffect, useState } from "preact/hooks";
import { Bar } from "../../frame/bar.tsx";
import { attempt } from "../../state/app.ts";
import { type Account, ask, type BrowserSession, type Token } from "../../state/wire.ts";
import { SessionsCard } from "./sessions-card.tsx";
import { TokensCard } from "./tokens-card.tsx";
import { UsersCard } from "./users-card.tsx";

export function PeoplePage() {
  const [users, setUsers] = useState<readonly Account[]>([]);
  const [tokens, setTokens] = useState<readonly Token[]>();
  const [sessions, setSessions] = useState<readonly BrowserSession[]>();

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

  return (
    <>
      <Bar title="People" />
      <div class="page">
        <div>
          <UsersCard users={users} onChange={load} />
          <TokensCard users={users} tokens={tokens} onChange={load} />
          <SessionsCard sessions={sessions} onChange={load} />
        </div>
      </div>
    </>
  );
}
