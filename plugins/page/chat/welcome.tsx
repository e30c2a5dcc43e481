/** What a new chat shows before its first message. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { send } from "../state/turns.ts";
import { useApp } from "../state/use-app.ts";
import type { Status } from "../state/wire.ts";
import { text } from "../text/text.ts";
import { Button } from "../widgets/controls.tsx";
import { ConnectHint } from "./connect/connect-hint.tsx";
import { Retirement } from "./retirement.tsx";

const words = text.start;
const SKIPPED = "postern.looks-around";

export function Welcome() {
  const { status, user } = useApp();
  const [isSkipped, setSkipped] = useState(() => localStorage.getItem(SKIPPED) === "yes");
  if (status === undefined) return null;
  const skip = () => {
    localStorage.setItem(SKIPPED, "yes");
    setSkipped(true);
    document.querySelector<HTMLElement>(".composer textarea")?.focus();
  };
  if (status.is_model_missing && user?.role === "operator" && !isSkipped) return <Connect onSkip={skip} />;
  return (
    <div class="welcome">
      <h2>{words.welcome}</h2>
      {status.model.provider === "builtin" && (
        <>
          <p>{words.builtinWords}</p>
          <ConnectHint />
        </>
      )}
      {user?.role === "operator" && <Retirement />}
      <ul class="examples" aria-label={words.suggestions}>
        {suggestionsFor(status).map((example) => (
          <li key={example}>
            <Button label={example} onClick={() => send(example)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Without a model, the first thing to do is to connect one. */
function Connect({ onSkip }: { onSkip(): void }) {
  const [Shown, setShown] = useState<ComponentType<{ onSkip(): void }>>();
  useEffect(() => {
    void import("./connect/connect-model.tsx").then(({ ConnectModel }) => setShown(() => ConnectModel));
  }, []);
  return (
    <div class="welcome connect">
      <h2>{words.connect.title}</h2>
      <p>{words.connect.words}</p>
      {Shown && <Shown onSkip={onSkip} />}
    </div>
  );
}

const MAX_SUGGESTIONS = 4;

/** What the model and the installed tools can do, most telling first. */
function suggestionsFor({ model, tools }: Status): readonly string[] {
  const has = (tool: string, suggestion: string) => (tools.includes(tool) ? [suggestion] : []);
  const suggestions =
    model.provider === "builtin"
      ? [
          ...has("convert", words.try.convert),
          ...has("weather", words.try.weather),
          ...[words.try.remember, words.try.remind, words.try.help],
        ]
      : [
          ...has("web-search", words.try.search),
          ...has("run-code", words.try.code),
          ...has("read-page", words.try.read),
          ...has("github-issues", words.try.issues),
          ...has("weather", words.try.forecast),
          ...[words.try.routine, words.try.plan, words.try.abilities],
        ];
  return suggestions.slice(0, MAX_SUGGESTIONS);
}
