import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type ModelTest, Refused, type Setting } from "../../state/wire.ts";
import { duration } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { type Drafts, draftedValue } from "./drafts.ts";
import { SettingField } from "./setting-field.tsx";
import { FIELDS_OF, isOfModel } from "./titles.ts";

const words = text.settings;

interface Props {
  readonly settings: readonly Setting[];
  readonly drafts: Drafts;
  readonly errors: Readonly<Record<string, string>>;
  onDrafts(drafts: Drafts): void;
  onErrors(error: Refused): void;
}

export function ModelCard({ settings, drafts, errors, onDrafts, onErrors }: Props) {
  const [test, setTest] = useState<ModelTest>();
  const [isTesting, setTesting] = useState(false);
  const find = (name: string) => settings.find((setting) => setting.name === name);
  const provider = draftedValue(drafts, find("MODEL_PROVIDER")) || "auto";
  const names = ["MODEL_PROVIDER", ...(FIELDS_OF[provider] ?? [])];
  const others = settings.filter(({ name }) => isOfModel(name) && !names.includes(name));
  const field = (setting: Setting | undefined) =>
    setting && (
      <SettingField
        key={setting.name}
        {...{ setting, drafts, onDrafts }}
        error={errors[setting.name]}
        offered={setting.name === "MODEL_NAME" ? (test?.models ?? []) : []}
      />
    );
  const tryOut = async () => {
    setTesting(true);
    setTest(undefined);
    const values = Object.fromEntries(Object.entries(drafts).filter(([name]) => isOfModel(name)));
    const result = await attempt(async () => {
      try {
        return await ask<ModelTest>("POST", "/api/settings/test-model", { settings: values });
      } catch (error) {
        if (!(error instanceof Refused) || error.problems === undefined) throw error;
        onErrors(error);
        return undefined;
      }
    });
    setTesting(false);
    setTest(result);
  };
  const isChanged = (setting: Setting) => setting.is_set || setting.name in drafts;
  return (
    <Card title={words.model} note={words.modelNote}>
      {names.map((name) => field(find(name)))}
      <div class="row">
        <Button label={isTesting ? words.testing : words.test} disabled={isTesting} onClick={tryOut} />
        <span class="soft">{words.testNote}</span>
      </div>
      <p role="status" class={test ? (test.ok ? "good" : "wrong") : "unseen"}>
        {test && `${test.message}${test.millis > 0 ? ` (${duration(test.millis)})` : ""}`}
      </p>
      {others.length > 0 && (
        <details open={others.some((setting) => isChanged(setting) || errors[setting.name] !== undefined)}>
          <summary>{words.moreModel}</summary>
          {others.map(field)}
        </details>
      )}
    </Card>
  );
}
