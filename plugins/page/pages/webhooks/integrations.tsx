import Plus from "lucide/dist/esm/icons/plus.mjs";
import { useState } from "preact/hooks";
import { changeThen } from "../../state/app.ts";
import { useLoaded } from "../../state/use-app.ts";
import { type Account, ask, type Integration, type Routes } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button, type Fields, Form } from "../../widgets/controls.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { Field } from "../../widgets/field.tsx";
import { List } from "../../widgets/list.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.webhooks;

type Added = Routes["POST /api/webhooks"]["answer"];

/** Programs with a secret of their own. */
export function Integrations({ users }: { users: readonly Account[] }) {
  const [known, load] = useLoaded<{ integrations: readonly Integration[] }>("/api/webhooks");
  const [added, setAdded] = useState<Added>();
  const [isAdding, setAdding] = useState(false);
  const change = changeThen(load);
  const remove = async (name: string) => {
    const question = { title: words.removeTitle(name), words: words.removeWords, yes: words.remove };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (await change("DELETE", `/api/webhooks/${encodeURIComponent(name)}`)) toast(words.removed(name));
  };
  const onAdded = async (made: Added) => {
    setAdding(false);
    setAdded(made);
    await load();
  };
  const isEmpty = known?.integrations.length === 0;
  const open = (
    <Button
      label={words.addIntegration}
      icon={Plus}
      class={isEmpty ? "" : "small"}
      onClick={() => setAdding(true)}
    />
  );

  return (
    <Card title={words.integrations} note={words.integrationsNote} actions={!isAdding && !isEmpty && open}>
      {added && (
        <div class="once" role="status">
          <span>{words.added(added.name)}</span>
          <code>/webhook/{added.name}</code>
          <CopyButton text={`/webhook/${added.name}`} what={words.theAddress} />
          <code>{added.secret}</code>
          <CopyButton text={added.secret} what={words.theSecret} />
        </div>
      )}
      {isAdding && <AddIntegration users={users} onAdded={onAdded} onClose={() => setAdding(false)} />}
      {isEmpty && !isAdding && (
        <EmptyState title={words.noIntegrations} action={open}>
          {words.noIntegrationsNote}
        </EmptyState>
      )}
      <List columns={Object.values(words.columns)} items={known?.integrations}>
        {({ name, user, message, last_used_at }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{user}</td>
            <td>{message ?? ""}</td>
            <td>{last_used_at ? <Moment at={last_used_at} /> : text.basics.never}</td>
            <td>
              <Button label={words.remove} class="small danger" onClick={() => remove(name)} />
            </td>
          </tr>
        )}
      </List>
    </Card>
  );
}

interface AddIntegrationProps {
  readonly users: readonly Account[];
  onAdded(made: Added): Promise<void>;
  onClose(): void;
}

function AddIntegration({ users, onAdded, onClose }: AddIntegrationProps) {
  const add = async ({ name, user, message }: Fields) =>
    onAdded(await ask<Added>("POST", "/api/webhooks", { name, user, message: message || undefined }));
  return (
    <Form class="fields" onSubmit={add}>
      <div class="columns">
        <Field label={words.name} name="name" help={words.nameHelp}>
          {(field) => <input {...field} required autocomplete="off" spellcheck={false} />}
        </Field>
        <Field label={words.user} name="user" help={words.userHelp}>
          {(field) => <input {...field} required list="users" autocomplete="off" spellcheck={false} />}
        </Field>
      </div>
      <datalist id="users">
        {users.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <Field label={words.message} name="message" help={words.messageHelp}>
        {(field) => <input {...field} />}
      </Field>
      <span class="row">
        <Button label={words.addIntegration} type="submit" class="primary" />
        <Button label={text.basics.cancel} onClick={onClose} />
      </span>
    </Form>
  );
}
