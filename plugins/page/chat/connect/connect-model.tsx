/** Sets up the model: with a key, with a server on this machine, or not yet. What is entered is tried before it is saved. */
import ChevronDown from "lucide/dist/esm/icons/chevron-down.mjs";
import Compass from "lucide/dist/esm/icons/compass.mjs";
import HardDrive from "lucide/dist/esm/icons/hard-drive.mjs";
import KeyRound from "lucide/dist/esm/icons/key-round.mjs";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { findQuietly } from "../../state/app.ts";
import { loadModels, loadStatus } from "../../state/threads.ts";
import { useApp, useLoaded } from "../../state/use-app.ts";
import { ask, type LocalServer, type ModelTest, type Setting } from "../../state/wire.ts";
import { list } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button, Form, Select, wrongField } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";
import { Icon, type IconShapes } from "../../widgets/icon.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.start.connect;

type Values = Record<string, string | null>;
/** What the environment of the service must not fix, if the page is to choose. */
const NEEDED = ["MODEL_PROVIDER", "MODEL_BASE_URL", "MODEL_NAME"];

type Way = "key" | "local";

interface ConnectProps {
  /** Where people go who want to look around first. */
  onSkip(): void;
}

export function ConnectModel({ onSkip }: ConnectProps) {
  const [open, setOpen] = useState<Way>();
  const [found, look] = useLoaded("/api/settings/local-servers", findServers);
  const [listed] = useLoaded("/api/settings", findSettings);
  const toggle = (way: Way) => setOpen(open === way ? undefined : way);
  // Nothing is shown before all is known, so that nothing moves.
  if (found === undefined || listed === undefined) return null;
  const fixed = listed.filter(({ name, is_fixed }) => is_fixed && NEEDED.includes(name));
  const names = found.map(({ name, models }) => `${name} (${models.slice(0, 2).join(", ")})`);
  if (fixed.length > 0)
    return <p>{words.fixed(<code key="names">{fixed.map(({ name }) => name).join(", ")}</code>)}</p>;
  return (
    <div class="ways">
      <Choice
        icon={KeyRound}
        title={words.key}
        note={words.keyWords}
        isOpen={open === "key"}
        onToggle={() => toggle("key")}
      >
        <KeyForm />
      </Choice>
      <Choice
        icon={HardDrive}
        title={words.local}
        note={names.length > 0 ? words.localFound(visibleLine(list(names))) : words.localNone}
        isOpen={open === "local"}
        onToggle={() => toggle("local")}
      >
        <LocalForm servers={found} onLook={look} />
      </Choice>
      <button type="button" class="way" onClick={onSkip}>
        <Icon of={Compass} />
        <span>
          <b>{words.look}</b>
          <span class="soft">{words.lookWords}</span>
        </span>
      </button>
    </div>
  );
}

const findServers = async (path: string): Promise<readonly LocalServer[]> =>
  (await findQuietly<{ servers: readonly LocalServer[] }>(path))?.servers ?? [];

const findSettings = async (path: string): Promise<readonly Setting[]> =>
  (await findQuietly<{ settings: readonly Setting[] }>(path))?.settings ?? [];

interface ChoiceProps {
  readonly icon: IconShapes;
  readonly title: string;
  readonly note: string;
  readonly isOpen: boolean;
  readonly children: ComponentChildren;
  onToggle(): void;
}

function Choice({ icon, title, note, isOpen, children, onToggle }: ChoiceProps) {
  return (
    <div class={isOpen ? "open" : ""}>
      <button type="button" class="way" aria-expanded={isOpen} onClick={onToggle}>
        <Icon of={icon} />
        <span>
          <b>{title}</b>
          <span class="soft">{note}</span>
        </span>
        <Icon of={ChevronDown} />
      </button>
      {isOpen && children}
    </div>
  );
}

/** Tries the values and keeps them. A refusal is shown at the field that it is about. */
function useConnecting() {
  const [isTrying, setTrying] = useState(false);
  const [models, setModels] = useState<readonly string[]>([]);
  const connect = async (
    values: Values,
    fields: { readonly key: string; readonly address: string },
  ): Promise<void> => {
    setTrying(true);
    try {
      const test = await ask<ModelTest>("POST", "/api/settings/test-model", { settings: values });
      setModels(test.models);
      const [only, another] = test.models;
      // A server of its own has no model that everybody knows: its list says what there is.
      const isUnnamed = !values["MODEL_NAME"] && only !== undefined && !test.models.includes(test.model.name);
      if (isUnnamed && values["MODEL_PROVIDER"] === "openai-compatible") {
        if (another === undefined) await connect({ ...values, MODEL_NAME: only }, fields);
        return;
      }
      const isNameWrong = test.code === "model_refused" && test.models.length > 0;
      if (isNameWrong) throw wrongField("model", values["MODEL_NAME"] ? test.message : words.chooseModel);
      if (test.code === "model_unauthorized") throw wrongField(fields.key, test.message);
      if (!test.ok) throw wrongField(fields.address, test.message);
      await ask("PATCH", "/api/settings", { settings: values });
      await Promise.all([loadStatus(), loadModels()]);
      toast(words.connected(visibleLine(test.model.name)));
      location.hash = "#/";
    } finally {
      setTrying(false);
    }
  };
  return { isTrying, models, connect };
}

const KEYS: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "MODEL_API_KEY",
  "openai-compatible": "MODEL_API_KEY",
};
const WHERE: Readonly<Record<string, string>> = {
  anthropic: "https://platform.claude.com/settings/keys",
  openai: "https://platform.openai.com/api-keys",
  google: "https://aistudio.google.com/apikey",
};

function KeyForm() {
  const [provider, setProvider] = useState("anthropic");
  const { isTrying, models, connect } = useConnecting();
  const where = WHERE[provider];
  const isOther = where === undefined;
  const submit = ({ key = "", address = "", model = "" }: Readonly<Record<string, string>>) =>
    connect(
      {
        MODEL_PROVIDER: provider,
        MODEL_NAME: model || null,
        MODEL_BASE_URL: isOther ? withScheme(address) : null,
        ...(key && { [KEYS[provider] ?? ""]: key.trim() }),
      },
      { key: "key", address: isOther ? "address" : "key" },
    );
  return (
    <Form class="fields" onSubmit={submit}>
      <Field label={words.provider} name="provider">
        {({ "data-field": _of, ...field }) => (
          <Select {...field} options={words.providers} value={provider} onValue={setProvider} />
        )}
      </Field>
      {isOther && (
        <Field label={words.address} name="address" help={words.addressHelp}>
          {(field) => <input {...field} required inputMode="url" autocomplete="off" />}
        </Field>
      )}
      <Field
        label={words.apiKey}
        name="key"
        help={
          where
            ? words.keyHelp(
                <a key="where" href={where} target="_blank" rel="noopener noreferrer">
                  {new URL(where).host}
                </a>,
              )
            : words.otherKeyHelp
        }
      >
        {(field) => <input {...field} type="password" required={!isOther} autocomplete="off" />}
      </Field>
      {models.length > 0 && <ModelField models={models} />}
      <Submit isTrying={isTrying} />
    </Form>
  );
}

function LocalForm({ servers, onLook }: { servers: readonly LocalServer[]; onLook(): Promise<void> }) {
  const [url, setUrl] = useState(servers[0]?.base_url ?? "");
  const { isTrying, models, connect } = useConnecting();
  const server = servers.find(({ base_url }) => base_url === url);
  useEffect(() => setUrl(servers[0]?.base_url ?? ""), [servers]);
  const submit = ({ address = "", model = "" }: Readonly<Record<string, string>>) =>
    connect(
      server?.name === "Ollama"
        ? { MODEL_PROVIDER: "ollama", MODEL_BASE_URL: null, MODEL_NAME: model || null }
        : {
            MODEL_PROVIDER: "openai-compatible",
            MODEL_BASE_URL: server ? url : withScheme(address),
            MODEL_NAME: model || null,
          },
      { key: "address", address: server ? "model" : "address" },
    );
  const offered = server?.models ?? models;
  return (
    <Form class="fields" onSubmit={submit}>
      {servers.length === 0 && models.length === 0 && (
        <p class="soft">
          {words.notFound} <Button label={words.lookAgain} class="small" onClick={onLook} />
        </p>
      )}
      {servers.length > 0 && (
        <Field label={words.server} name="server">
          {({ "data-field": _of, ...field }) => (
            <Select
              {...field}
              options={{
                ...Object.fromEntries(servers.map(({ name, base_url }) => [base_url, name])),
                "": words.localAddress,
              }}
              value={url}
              onValue={setUrl}
            />
          )}
        </Field>
      )}
      {server === undefined && (
        <Field
          label={servers.length > 0 ? words.address : words.localAddress}
          name="address"
          help={words.localAddressHelp}
        >
          {(field) => <input {...field} required inputMode="url" autocomplete="off" />}
        </Field>
      )}
      {offered.length > 0 && <ModelField models={offered} />}
      <Submit isTrying={isTrying} />
    </Form>
  );
}

function ModelField({ models }: { models: readonly string[] }) {
  return (
    <Field label={words.model} name="model" help={words.chooseModel}>
      {({ "data-field": _of, ...field }) => (
        <Select {...field} options={Object.fromEntries(models.map((name) => [name, visibleLine(name)]))} />
      )}
    </Field>
  );
}

function Submit({ isTrying }: { isTrying: boolean }) {
  return (
    <Button
      label={isTrying ? words.trying : words.submit}
      type="submit"
      class="primary"
      disabled={isTrying}
    />
  );
}

/** People type `localhost:4100`. */
const withScheme = (address: string): string =>
  /^[a-z]+:\/\//i.test(address.trim()) ? address.trim() : `http://${address.trim()}`;

/** The same as a page, for links from elsewhere. */
export function ConnectPage() {
  const { user } = useApp();
  return (
    <Page title={words.title}>
      <div class="connect">
        <p class="soft">{words.words}</p>
        {user?.role === "operator" ? (
          <ConnectModel
            onSkip={() => {
              location.hash = "#/";
            }}
          />
        ) : (
          <p>{text.start.askOperator}</p>
        )}
      </div>
    </Page>
  );
}
