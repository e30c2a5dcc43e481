import { useEffect, useRef, useState } from "preact/hooks";
import { attempt, update } from "../../state/app.ts";
import { useApp, useShown } from "../../state/use-app.ts";
import { ask, Refused, type Routes, type Setting, type Status } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Button, Form } from "../../widgets/controls.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { ThemeChoice } from "../../widgets/theme.tsx";
import { toast } from "../../widgets/toast.tsx";
import { type Drafts, useDrafts } from "./drafts.ts";
import { ModelCard } from "./model-card.tsx";
import { SettingField } from "./setting-field.tsx";
import { GROUPS, isOfModel } from "./titles.ts";

const words = text.settings;

type Listed = Routes["GET /api/settings"]["answer"];

type Errors = Readonly<Record<string, string>>;

/** Settings that the operator can change while the service runs; the theme is for everybody. */
export function SettingsPage() {
  const isOperator = useApp().user?.role === "operator";
  return (
    <Page title={text.pages.settings}>
      {isOperator && <OperatorSettings />}
      <Card title={words.theme} note={words.themeNote}>
        <div class="row">
          <ThemeChoice />
        </div>
      </Card>
    </Page>
  );
}

function OperatorSettings() {
  const listed = useShown<Listed>("/api/settings");
  return (
    <Loaded of={listed} lines={12}>
      {({ settings }) => <SettingsForm loaded={settings} />}
    </Loaded>
  );
}

function SettingsForm({ loaded }: { loaded: readonly Setting[] }) {
  const form = useRef<HTMLDivElement>(null);
  const [saved, setSaved] = useState<Listed>();
  const settings = saved?.settings ?? loaded;
  const [drafts, setDrafts] = useDrafts();
  const [errors, setErrors] = useState<Errors>({});
  const [isSaving, setSaving] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const count = Object.keys(drafts).length;

  useEffect(() => {
    if (count === 0) return;
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", onLeave);
    return () => removeEventListener("beforeunload", onLeave);
  }, [count > 0]);
  // The first wrong field gets the focus, wherever on the long page it is.
  useEffect(() => {
    if (isRefused) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    setRefused(false);
  }, [isRefused]);

  const onDrafts = (next: Drafts) => {
    const changed = Object.keys({ ...drafts, ...next }).filter((name) => drafts[name] !== next[name]);
    setErrors(Object.fromEntries(Object.entries(errors).filter(([name]) => !changed.includes(name))));
    setDrafts(next);
  };
  const onErrors = ({ problems = [] }: Refused) => {
    setErrors(Object.fromEntries(problems.map(({ param, message }) => [param, message])));
    setRefused(true);
    update({ announcement: words.cannotSave(problems.length) });
  };
  const discard = () => {
    setDrafts({});
    setErrors({});
  };
  const save = async () => {
    setSaving(true);
    await attempt(async () => {
      try {
        setSaved(await ask<Listed>("PATCH", "/api/settings", { settings: drafts }));
        discard();
        toast(text.basics.saved);
        update({ status: await ask<Status>("GET", "/api/status") });
      } catch (error) {
        if (!(error instanceof Refused) || error.problems === undefined) throw error;
        onErrors(error);
      }
    });
    setSaving(false);
  };
  const named = new Set(GROUPS.flatMap(({ names }) => names));
  const others = settings.filter(({ name }) => !isOfModel(name) && !named.has(name)).map(({ name }) => name);
  const groups = [...GROUPS, ...(others.length > 0 ? [{ title: words.others, names: others }] : [])];
  const shown = new Set(settings.map(({ name }) => name));
  const elsewhere = Object.entries(errors).filter(([name]) => !shown.has(name));
  return (
    <Form class="settings" noValidate onSubmit={save}>
      <div ref={form}>
        <ModelCard {...{ settings, drafts, errors, onDrafts, onErrors }} />
        {groups.map(({ title, names }) => (
          <Card key={title} title={title}>
            {names
              .flatMap((name) => settings.find((setting) => setting.name === name) ?? [])
              .map((setting) => (
                <SettingField
                  key={setting.name}
                  {...{ setting, drafts, onDrafts }}
                  error={errors[setting.name]}
                />
              ))}
          </Card>
        ))}
      </div>
      {elsewhere.map(([name, message]) => (
        <p class="wrong" key={name}>
          {name}: {message}
        </p>
      ))}
      <div class={`row save ${count > 0 ? "unsaved" : ""}`}>
        <Button
          label={isSaving ? words.saving : text.basics.save}
          type="submit"
          class="primary"
          disabled={count === 0 || isSaving}
        />
        {count > 0 && <Button label={words.discard} onClick={discard} />}
        <span class="soft">{stateWords(count, Object.keys(errors).length)}</span>
      </div>
    </Form>
  );
}

function stateWords(unsaved: number, wrong: number): string {
  if (wrong > 0) return words.fixMarked;
  return unsaved === 0 ? words.holds : words.unsavedCount(unsaved);
}
