import Plug from "lucide/dist/esm/icons/plug.mjs";
import { useApp } from "../../state/use-app.ts";
import { text } from "../../text/text.ts";
import { Icon } from "../../widgets/icon.tsx";

/** Below what the built-in model cannot answer: the way to a model that can. */
export function ConnectHint() {
  const { user } = useApp();
  if (user?.role !== "operator") return <p class="soft">{text.start.askOperator}</p>;
  return (
    <a class="button connect-hint" href="#/connect">
      <Icon of={Plug} />
      {text.start.connect.action}
    </a>
  );
}
