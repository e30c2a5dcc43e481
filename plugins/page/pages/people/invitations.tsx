/** Inviting somebody: the form, the link, and the links that nobody has used yet. */
import { useEffect, useRef } from "preact/hooks";
import { changeThen } from "../../state/app.ts";
import { ask, type Invitation, Refused } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button, type Fields, Form, Select, wrongField } from "../../widgets/controls.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Field } from "../../widgets/field.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.people;
const DEFAULT_DAYS = "7";

export interface Invited extends Invitation {
  readonly token: string;
}

/** For somebody new with `role`, else for a person who is there. */
export const invite = (
  user: string,
  options: { readonly role?: string; readonly expires_in_days?: number },
) => ask<Invited>("POST", "/api/invitations", { user, ...options });

interface InviteFormProps {
  onInvited(made: Invited): Promise<void>;
  onClose(): void;
}

export function InviteForm({ onInvited, onClose }: InviteFormProps) {
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const send = async ({ user = "", role = "user", days = DEFAULT_DAYS }: Fields) => {
    const made = await invite(user.trim(), { role, expires_in_days: Number(days) }).catch((error) => {
      // The account that is added with the invitation has an id, which is the name here.
      const isName = error instanceof Refused && error.problems?.some(({ param }) => param === "id");
      throw isName ? wrongField("user", error.message) : error;
    });
    await onInvited(made);
  };
  return (
    <Card title={words.inviteTitle} note={words.inviteNote}>
      <Form class="fields" onSubmit={send}>
        <Field label={words.newUser} name="user" help={words.newUserHelp}>
          {(field) => <input {...field} ref={first} required autocomplete="off" spellcheck={false} />}
        </Field>
        <Field label={words.role} name="role" help={words.roleHelp}>
          {(field) => <Select {...field} options={words.roles} />}
        </Field>
        <Field label={words.validFor} name="days">
          {(field) => <Select {...field} options={words.days} defaultValue={DEFAULT_DAYS} />}
        </Field>
        <span class="row">
          <Button label={words.makeLink} type="submit" class="primary" />
          <Button label={text.basics.cancel} onClick={onClose} />
        </span>
      </Form>
    </Card>
  );
}

const isLocal = () => /^(localhost|127\.|\[::1\])/.test(location.hostname);

/** The link, which is never shown again. */
export function NewLink({ of: { user, token, expires_at }, onClose }: { of: Invited; onClose(): void }) {
  const link = `${location.origin}/?token=${token}`;
  return (
    <Card title={words.linkFor(user)} note={words.linkNote(expires_at)} label={words.linkFor(user)}>
      <span class="once" role="status">
        <code>{link}</code>
        <CopyButton text={link} what={words.theLink} />
      </span>
      {isLocal() && <p class="banner">{words.linkIsLocal}</p>}
      <span class="row">
        <Button label={text.basics.close} onClick={onClose} />
      </span>
    </Card>
  );
}

interface InvitationsProps {
  readonly invitations: readonly Invitation[];
  onChange(): Promise<void>;
}

export function InvitationsCard({ invitations, onChange }: InvitationsProps) {
  const change = changeThen(onChange);
  const withdraw = async (id: string) => {
    if (await change("DELETE", `/api/invitations/${id}`)) toast(words.withdrawn);
  };
  return (
    <Card title={words.invitations} note={words.invitationsNote}>
      <ul class="entries">
        {invitations.map(({ id, user, expires_at }) => (
          <li key={id}>
            <span>
              {user}
              <span class="soft">{words.expires(expires_at)}</span>
            </span>
            <Button
              label={words.withdraw}
              class="small danger"
              aria-label={words.withdrawOf(user)}
              onClick={() => withdraw(id)}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}
