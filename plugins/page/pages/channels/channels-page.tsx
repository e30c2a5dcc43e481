import MessagesSquare from "lucide/dist/esm/icons/messages-square.mjs";
import RefreshCw from "lucide/dist/esm/icons/refresh-cw.mjs";
import { useState } from "preact/hooks";
import { changeThen } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import {
  type Account,
  ask,
  type ChatChannel,
  type OutboxEntry,
  type PairingRequest,
} from "../../state/wire.ts";
import { dateTime, relativeTime, whole } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card, KeyValue } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";
import { PairForm } from "../webhooks/identities.tsx";
import { ChannelSetup } from "./channel-setup.tsx";

const words = text.channels;
const EVERY_MS = 3000;

interface Everything {
  readonly channels: readonly ChatChannel[];
  readonly messages: readonly OutboxEntry[];
  readonly requests: readonly PairingRequest[];
  readonly users: readonly Account[];
}

/** Chat channels as an operator sees them: what they do, what they could not send, and who waits to be let in. */
export function ChannelsPage() {
  const [, , load, all] = useLive(loadAll, EVERY_MS, []);
  return (
    <Page
      title={text.pages.channels}
      actions={<Button label={text.basics.refresh} icon={RefreshCw} isIconOnly onClick={load} />}
    >
      <Loaded of={all} lines={8}>
        {({ channels, messages, requests, users }) => (
          <>
            {requests.length > 0 && <Requests {...{ requests, users, load }} />}
            {channels.length === 0 && (
              <EmptyState title={words.none} icon={MessagesSquare}>
                {words.noneNote}
              </EmptyState>
            )}
            {channels.map((channel) => (
              <Channel key={channel.name} channel={channel} onChanged={load} />
            ))}
            {channels.length > 0 && <Letters {...{ messages, load }} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

async function loadAll(): Promise<Everything> {
  const paths = ["channels", "messages", "pairings", "users"];
  const found = await Promise.all(paths.map((name) => ask<Partial<Everything>>("GET", `/api/${name}`)));
  return Object.assign({}, ...found);
}

interface ChannelProps {
  readonly channel: ChatChannel;
  onChanged(): unknown;
}

function Channel({ channel, onChanged }: ChannelProps) {
  const { name, title, missing, is_connected: isConnected, detail } = channel;
  const [isOpen, setOpen] = useState(false);
  const [link, setLink] = useState<string>();
  const { facts } = words;
  const isFleet = (useApp().status?.nodes.length ?? 0) > 1;
  const moment = (at: string | null) =>
    at === null ? undefined : <time title={dateTime(at)}>{relativeTime(at)}</time>;
  const look = missing !== null ? "" : isConnected ? "good" : "failed";
  const state = missing !== null ? words.notSetUp : isConnected ? words.connected : words.notConnected;
  return (
    <Card
      title={title}
      icon={MessagesSquare}
      tags={<span class={`tag ${look}`}>{state}</span>}
      note={missing === null ? detail : undefined}
    >
      {missing === null && (
        <KeyValue
          of={[
            [facts.received, moment(channel.last_received_at) ?? text.basics.never],
            [facts.sent, moment(channel.last_sent_at) ?? text.basics.never],
            [facts.waiting, words.count(channel.waiting)],
            [facts.oldest, moment(channel.oldest_waiting_at)],
            [facts.dead, words.count(channel.dead)],
            [facts.node, isFleet ? channel.node : undefined],
          ]}
        />
      )}
      {link !== undefined && (
        <p>
          {words.setup.next(
            <a key="link" href={link} target="_blank" rel="noopener noreferrer">
              {link}
            </a>,
          )}
        </p>
      )}
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{missing === null ? words.setup.change : words.setup.add(title)}</summary>
        {isOpen && (
          <ChannelSetup
            {...{ name, title }}
            isSetUp={missing === null}
            onChanged={async (found) => {
              setOpen(false);
              setLink(found?.link);
              await onChanged();
            }}
          />
        )}
      </details>
    </Card>
  );
}

interface RequestsProps {
  readonly requests: readonly PairingRequest[];
  readonly users: readonly Account[];
  load(): Promise<unknown>;
}

function Requests({ requests, users, load }: RequestsProps) {
  const change = changeThen(load);
  const pathOf = (code: string) => `/api/pairings/${encodeURIComponent(code)}`;
  const pair = async ({ code, identity }: PairingRequest, account: string) => {
    if (await change("POST", pathOf(code), { account })) toast(words.paired(identity, account));
  };
  const deny = async ({ code, identity }: PairingRequest) => {
    if (await change("DELETE", pathOf(code))) toast(words.denied(identity));
  };
  return (
    <Card title={words.requests} note={words.requestsNote}>
      {requests.map((request) => {
        const { code, identity, name, asked_at: askedAt, is_authentic: isAuthentic } = request;
        return (
          <section key={code} class="proposal" aria-label={words.request(name ?? identity)}>
            <strong dir="auto">{name === null ? identity : `${name} (${identity})`}</strong>
            <p class="soft">{words.asked(<code>{code}</code>, relativeTime(askedAt))}</p>
            <pre class="log">{request.text}</pre>
            <span class="row">
              {isAuthentic ? (
                <PairForm {...{ identity, users }} onPair={(account) => void pair(request, account)} />
              ) : (
                <span class="soft">{words.notAuthentic}</span>
              )}
              <Button label={words.deny} class="small danger" onClick={() => deny(request)} />
            </span>
          </section>
        );
      })}
    </Card>
  );
}

const LOOKS: Readonly<Record<string, string>> = { dead: "failed", unknown: "waiting", waiting: "waiting" };

function Letters({
  messages,
  load,
}: {
  readonly messages: readonly OutboxEntry[];
  load(): Promise<unknown>;
}) {
  const { columns } = words;
  const change = changeThen(load);
  const again = async ({ id }: OutboxEntry) => {
    if (await change("POST", `/api/messages/${encodeURIComponent(id)}/retry`)) toast(words.sentAgain);
  };
  const drop = async ({ id }: OutboxEntry) => {
    const question = { title: words.dropTitle, words: words.dropWords, yes: words.drop, danger: true };
    if (!(await confirmed(question))) return;
    if (await change("DELETE", `/api/messages/${encodeURIComponent(id)}`)) toast(words.dropped);
  };
  return (
    <Card title={words.letters} note={words.lettersNote}>
      <List
        columns={[columns.message, columns.to, columns.state, columns.tries]}
        items={messages}
        empty={words.noLetters}
      >
        {(entry) => (
          <tr key={entry.id}>
            <td dir="auto">{entry.text}</td>
            <td>
              {entry.user} <span class="soft">{entry.channel}</span>
            </td>
            <td>
              <span class={`tag ${LOOKS[entry.status] ?? ""}`}>{words.states[entry.status]}</span>{" "}
              {entry.next_at !== null && entry.status === "waiting" && entry.attempts > 0 && (
                <span class="soft">{words.next(relativeTime(entry.next_at))}</span>
              )}
              {entry.message !== null && <p class="soft">{entry.message}</p>}
            </td>
            <td>{whole(entry.attempts)}</td>
            <td>
              {entry.status !== "sending" && (
                <span class="row">
                  <Button
                    label={words.again}
                    class="small"
                    aria-label={words.againOf(entry.text)}
                    onClick={() => again(entry)}
                  />
                  <Button
                    label={words.drop}
                    class="small danger"
                    aria-label={words.dropOf(entry.text)}
                    onClick={() => drop(entry)}
                  />
                </span>
              )}
            </td>
          </tr>
        )}
      </List>
    </Card>
  );
}
