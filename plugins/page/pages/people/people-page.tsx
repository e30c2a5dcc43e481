import UserPlus from "lucide/dist/esm/icons/user-plus.mjs";
import { useState } from "preact/hooks";
import { changeThen } from "../../state/app.ts";
import { useShown } from "../../state/use-app.ts";
import { type Account, ask, type BrowserSession, type Invitation, type Token } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { toast } from "../../widgets/toast.tsx";
import { browserName } from "./browser-name.ts";
import { InvitationsCard, type Invited, InviteForm, NewLink } from "./invitations.tsx";
import { TokensCard } from "./tokens-card.tsx";
import { UsersCard } from "./users-card.tsx";

const words = text.people;

interface Everybody {
  readonly users: readonly Account[];
  readonly invitations: readonly Invitation[];
  readonly tokens: readonly Token[];
  readonly sessions: readonly BrowserSession[];
}

export function PeoplePage() {
  const all = useShown(async (): Promise<Everybody> => {
    const paths = ["users", "invitations", "tokens", "sessions"];
    const found = await Promise.all(paths.map((name) => ask<Partial<Everybody>>("GET", `/api/${name}`)));
    return Object.assign({}, ...found);
  });
  const { load } = all;
  const [isInviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Invited>();
  const onInvited = async (made: Invited) => {
    setInviting(false);
    setInvited(made);
    await load();
  };

  return (
    <Page
      title={text.pages.people}
      actions={
        <Button
          label={words.invite}
          icon={UserPlus}
          class="primary"
          onClick={() => {
            setInvited(undefined);
            setInviting(true);
          }}
        />
      }
    >
      {isInviting && <InviteForm onInvited={onInvited} onClose={() => setInviting(false)} />}
      {invited && <NewLink of={invited} onClose={() => setInvited(undefined)} />}
      <Loaded of={all} lines={8}>
        {({ users, invitations, tokens, sessions }) => (
          <>
            <UsersCard users={users} onChange={load} onInvited={onInvited} />
            {invitations.length > 0 && <InvitationsCard invitations={invitations} onChange={load} />}
            <TokensCard users={users} tokens={tokens} onChange={load} />
            <SessionsCard sessions={sessions} onChange={load} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface SessionsProps {
  readonly sessions: readonly BrowserSession[];
  readonly onChange: () => Promise<void>;
}

function SessionsCard({ sessions, onChange }: SessionsProps) {
  const change = changeThen(onChange);
  const { browser, since, lastUsed } = words.browserColumns;
  const end = async ({ id, user, browser }: BrowserSession) => {
    const title = words.signOutTitle(user, browser ? browserName(browser) : words.thisBrowser);
    const question = { title, words: words.signOutWords, yes: words.signOut, danger: true };
    if (!(await confirmed(question))) return;
    if (await change("DELETE", `/api/sessions/${id}`)) toast(words.signedOut(user));
  };
  return (
    <Card title={words.browsers}>
      <List columns={[words.user, browser, since, lastUsed]} items={sessions} empty={words.noBrowsers}>
        {(session) => (
          <tr key={session.id}>
            <td class="whole" title={session.user}>
              {session.user}
            </td>
            <td title={session.browser ?? ""}>
              {session.browser ? browserName(session.browser) : text.basics.unknown}
            </td>
            <td class="whole">
              <Moment at={session.created_at} />
            </td>
            <td class="whole">
              {session.last_used_at ? <Moment at={session.last_used_at} /> : text.basics.never}
            </td>
            <td>
              <Button label={words.signOut} class="small danger" onClick={() => end(session)} />
            </td>
          </tr>
        )}
      </List>
    </Card>
  );
}
