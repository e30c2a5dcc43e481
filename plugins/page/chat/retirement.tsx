import { useEffect } from "preact/hooks";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { attempt } from "../state/app.ts";
import { loadModels } from "../state/threads.ts";
import { useApp } from "../state/use-app.ts";
import { ask } from "../state/wire.ts";
import { text } from "../text/text.ts";
import { Button } from "../widgets/controls.tsx";

const words = text.start;
const WARN_MS = 60 * 86_400_000;

/** Says that the configured model is about to retire, and switches to the one that replaces it. */
export function Retirement() {
  const { models } = useApp();
  useEffect(() => {
    if (models === undefined) void loadModels();
  }, []);
  const model = models?.find(({ role }) => role === "configured");
  if (model?.retires === undefined || Date.parse(model.retires) - Date.now() > WARN_MS) return null;
  const next = model.replaced_by;
  const change = async () => {
    await attempt(() => ask("PATCH", "/api/settings", { settings: { MODEL_NAME: next ?? null } }));
    await loadModels();
  };
  return (
    <p>
      {words.retirement(visibleLine(model.name), model.retires)}{" "}
      {next && <Button label={words.switchTo(visibleLine(next))} onClick={change} />}
    </p>
  );
}
