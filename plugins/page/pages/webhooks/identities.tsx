import type { Account, Identity } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button, type Fields, Form, Select } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { EmptyState } from "../../widgets/states.tsx";

const words = text.webhooks;

interface IdentitiesProps {
  readonly identities: readonly Identity[];
  readonly users: readonly Account[];
  onPair(identity: string, account: string): void;
  onUnpair(identity: string): void;
  onRemove(identity: string): void;
}

/** Whom channels have named, and which accounts they are. */
export function Identities({ identities, users, onPair, onUnpair, onRemove }: IdentitiesProps) {
  const remove = async (id: string) => {
    const question = { title: words.deleteTitle(id), words: words.deleteWords, yes: words.delete };
    if (await confirmed({ ...question, danger: true })) onRemove(id);
  };
  return (
    <Card title={words.identities} note={words.identitiesNote}>
      {identities.length === 0 && (
        <EmptyState title={words.noIdentities}>{words.noIdentitiesNote}</EmptyState>
      )}
      <List columns={Object.values(words.identityColumns)} items={identities}>
        {({ id, account, held }) => (
          <tr key={id}>
            <td>{id}</td>
            <td>
              {account === null ? (
                <PairForm identity={id} users={users} onPair={(chosen) => onPair(id, chosen)} />
              ) : (
                <span class="row">
                  {account}
                  <Button
                    label={words.unpair}
                    class="small"
                    aria-label={words.unpairOf(id)}
                    onClick={() => onUnpair(id)}
                  />
                </span>
              )}
            </td>
            <td>{held > 0 ? words.held(held) : ""}</td>
            <td>
              <Button
                label={words.delete}
                class="small danger"
                aria-label={words.deleteOf(id)}
                onClick={() => remove(id)}
              />
            </td>
          </tr>
        )}
      </List>
    </Card>
  );
}

interface PairFormProps {
  readonly identity: string;
  readonly users: readonly Account[];
  onPair(account: string): void;
}

/** Nobody is chosen at first: an identity must not become the operator by a quick click. */
export function PairForm({ identity, users, onPair }: PairFormProps) {
  const submit = async ({ account = "" }: Fields) => {
    const question = { title: words.pairTitle(identity, account), words: words.pairWords, yes: words.pair };
    if (await confirmed(question)) onPair(account);
  };
  const options = { "": words.chooseAccount, ...Object.fromEntries(users.map(({ id }) => [id, id])) };
  return (
    <Form class="row" onSubmit={submit}>
      <Select name="account" required label={words.accountOf(identity)} options={options} />
      <Button label={words.pair} type="submit" class="small" />
    </Form>
  );
}
