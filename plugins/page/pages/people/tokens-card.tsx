import Plus from "lucide/dist/esm/icons/plus.mjs";
import { useState } from "preact/hooks";
import { changeThen, update } from "../../state/app.ts";
import { type Account, ask, type Routes, type Token } from "../../state/wire.ts";
import { dateOnly, dollars } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button, type Fields, Form, Select } from "../../widgets/controls.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { confirmed, entered } from "../../widgets/dialog.tsx";
import { Field } from "../../widgets/field.tsx";
import { List } from "../../widgets/list.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.people;

type Made = Routes["POST /api/tokens"]["answer"];

interface TokensProps {
  readonly users: readonly Account[];
  readonly tokens: readonly Token[];
  readonly onChange: () => Promise<void>;
}

/** People's tokens, what each may use, and the form for a new one. */
export function TokensCard({ users, tokens, onChange }: TokensProps) {
  const [made, setMade] = useState<Made>();
  const [isAdding, setAdding] = useState(false);

  const change = changeThen(onChange);
  const revoke = async ({ id, name, user }: Token) => {
    const title = words.revokeTitle(name, user);
    if (!(await confirmed({ title, words: words.revokeWords, yes: words.revoke, danger: true }))) return;
    if (await change("DELETE", `/api/tokens/${id}`)) toast(words.revokedToken);
  };
  const expire = async ({ id, name, user }: Token) => {
    const title = words.expiryTitle(name, user);
    const given = await entered({ title, label: words.expiryLabel, yes: text.basics.save, optional: true });
    if (given === undefined) return;
    const days = given.trim() === "" ? null : Number(given);
    if (Number.isNaN(days)) update({ trouble: words.notDays(given) });
    else if (await change("PATCH", `/api/tokens/${id}`, { expires_in_days: days })) toast(text.basics.saved);
  };
  const columns = [
    words.user,
    words.tokenColumns.token,
    words.tokenColumns.lastUsed,
    words.tokenColumns.expires,
  ];
  const add = (
    <Button
      label={words.addToken}
      icon={Plus}
      class={tokens.length > 0 ? "small" : ""}
      onClick={() => setAdding(true)}
    />
  );

  return (
    <Card title={words.tokens} note={words.tokensNote} actions={!isAdding && tokens.length > 0 && add}>
      {made && (
        <div class="once" role="status">
          <span>{words.newToken}</span>
          <code>{made.token}</code>
          <CopyButton text={made.token} what={words.theToken} />
          {made.warnings.map((warning) => (
            <span key={warning} class="soft">
              {warning}
            </span>
          ))}
        </div>
      )}
      {isAdding && (
        <TokenForm
          users={users}
          onClose={() => setAdding(false)}
          onMade={async (token) => {
            setAdding(false);
            setMade(token);
            await onChange();
          }}
        />
      )}
      {tokens.length === 0 && !isAdding && (
        <EmptyState title={words.noTokens} action={add}>
          {words.noTokensNote}
        </EmptyState>
      )}
      <List columns={columns} items={tokens}>
        {(token) => (
          <tr key={token.id}>
            <td class="whole" title={token.user}>
              {token.user}
            </td>
            <td>
              {token.name}
              <span class="soft">{scopeWords(token)}</span>
            </td>
            <td class="whole">
              {token.last_used_at ? <Moment at={token.last_used_at} /> : text.basics.never}
            </td>
            <td>
              {token.revoked_at
                ? words.revoked
                : token.expires_at
                  ? dateOnly(token.expires_at)
                  : text.basics.never}
              {token.expires_at && expiresSoon(token) && (
                <span class="tag waiting">{words.expires(token.expires_at)}</span>
              )}
            </td>
            <td>
              {!token.revoked_at && (
                <Menu
                  label={text.basics.actionsFor(token.name)}
                  items={[
                    { label: words.changeExpiry, onSelect: () => void expire(token) },
                    { label: words.revoke, danger: true, onSelect: () => void revoke(token) },
                  ]}
                />
              )}
            </td>
          </tr>
        )}
      </List>
    </Card>
  );
}

function scopeWords({ tools, models, per_day_usd: perDay }: Token): string {
  const parts = [
    tools && (tools.length === 0 ? words.noTools : words.only(tools)),
    models && words.models(models),
    perDay && words.aDay(dollars(perDay)),
  ].filter((part) => typeof part === "string");
  return parts.join("; ") || words.everything;
}

interface TokenFormProps {
  readonly users: readonly Account[];
  onMade(made: Made): Promise<void>;
  onClose(): void;
}

/** It is for whom the operator chooses: nobody is chosen at first, and not the operator. */
function TokenForm({ users, onMade, onClose }: TokenFormProps) {
  const [tools, setTools] = useState("all");

  const add = async (fields: Fields) => {
    const field = (name: string) => (fields[name] ?? "").trim();
    const names = (name: string) =>
      field(name)
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean);
    const number = (name: string) => (field(name) === "" ? null : Number(field(name)));
    const models = names("models");
    await onMade(
      await ask<Made>("POST", "/api/tokens", {
        user: field("user"),
        name: field("name"),
        tools: tools === "some" ? names("tools") : tools,
        models: models.length > 0 ? models : null,
        per_day_usd: number("per_day_usd"),
        expires_in_days: number("expires_in_days"),
      }),
    );
  };
  const amount = { type: "number", min: "0", step: "any" } as const;

  return (
    <Form class="fields" onSubmit={add}>
      <div class="columns">
        <Field label={words.tokenUser} name="user">
          {(field) => (
            <Select
              {...field}
              required
              options={{ "": words.chooseUser, ...Object.fromEntries(users.map(({ id }) => [id, id])) }}
            />
          )}
        </Field>
        <Field label={words.tokenName} name="name" help={words.tokenNameHelp}>
          {(field) => <input {...field} required maxLength={100} />}
        </Field>
        <Field label={words.expiresInDays} name="expires_in_days" help={words.expiresInDaysHelp}>
          {(field) => <input {...field} {...amount} />}
        </Field>
        <Field label={words.perDay} name="per_day_usd" help={words.perDayHelp}>
          {(field) => <input {...field} {...amount} />}
        </Field>
        <Field label={words.tokenTools} name="tool_choice">
          {(field) => <Select {...field} options={words.toolChoices} value={tools} onValue={setTools} />}
        </Field>
        <Field label={words.tokenModels} name="models" help={words.tokenModelsHelp}>
          {(field) => <input {...field} spellcheck={false} />}
        </Field>
        {tools === "some" && (
          <Field label={words.toolNames} name="tools">
            {(field) => <input {...field} required spellcheck={false} placeholder={words.toolNamesExample} />}
          </Field>
        )}
      </div>
      <span class="row">
        <Button label={words.createToken} type="submit" class="primary" />
        <Button label={text.basics.cancel} onClick={onClose} />
      </span>
    </Form>
  );
}

const SOON_MS = 7 * 86_400_000;

/** True for a token that is still valid but expires within a week. */
function expiresSoon({ expires_at: expiresAt, revoked_at: revokedAt }: Token): boolean {
  if (!expiresAt || revokedAt) return false;
  const left = Date.parse(expiresAt) - Date.now();
  return left > 0 && left <= SOON_MS;
}
