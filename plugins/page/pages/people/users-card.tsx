import { attempt, changeThen } from "../../state/app.ts";
import { useApp } from "../../state/use-app.ts";
import type { Account } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Select } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { toast } from "../../widgets/toast.tsx";
import { type Invited, invite } from "./invitations.tsx";

const words = text.people;

interface UsersProps {
  readonly users: readonly Account[];
  readonly onChange: () => Promise<void>;
  onInvited(made: Invited): Promise<void>;
}

/** The people with their roles, and what can be done with each. */
export function UsersCard({ users, onChange, onInvited }: UsersProps) {
  const me = useApp().user?.id;
  const change = changeThen(onChange);
  const remove = async (id: string, withData: boolean) => {
    const question = {
      title: words.removeTitle(id),
      words: withData ? words.removeDataWords : words.removeWords,
      yes: withData ? words.removeWithData : words.remove,
      danger: true,
    };
    if (!(await confirmed(question))) return;
    if (await change("DELETE", `/api/users/${encodeURIComponent(id)}?with_data=${withData}`))
      toast(words.removed(id));
  };
  const setRole = async (id: string, role: string) => {
    const saved = await change<Account>("PATCH", `/api/users/${encodeURIComponent(id)}`, { role });
    if (saved) toast(words.roleSaved(id, words.roles[saved.role]));
  };
  const makeLink = async (id: string) => {
    const made = await attempt(() => invite(id, {}));
    if (made) await onInvited(made);
  };

  return (
    <Card title={words.users} note={words.usersNote}>
      <List columns={[words.user, words.role]} items={users}>
        {({ id, role, name }) => {
          // People cannot lock themselves out, and the operator is built in.
          const isFixed = id === "operator" || id === me;
          return (
            <tr key={id}>
              <td>
                {name && name !== id ? `${id} (${name})` : id}{" "}
                {id === me && <span class="tag">{words.you}</span>}
              </td>
              <td>
                {isFixed ? (
                  words.roles[role]
                ) : (
                  <Select
                    label={words.roleOf(id)}
                    options={words.roles}
                    value={role}
                    onValue={(chosen) => setRole(id, chosen)}
                  />
                )}
              </td>
              <td>
                {!isFixed && (
                  <Menu
                    label={text.basics.actionsFor(id)}
                    items={[
                      { label: words.signInLink, onSelect: () => void makeLink(id) },
                      { label: words.remove, danger: true, onSelect: () => void remove(id, false) },
                      { label: words.removeWithData, danger: true, onSelect: () => void remove(id, true) },
                    ]}
                  />
                )}
              </td>
            </tr>
          );
        }}
      </List>
    </Card>
  );
}
