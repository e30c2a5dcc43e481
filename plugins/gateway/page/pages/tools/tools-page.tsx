import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../../kernel/text/visible.ts";
import { attempt } from "../../state/app.ts";
import { useApp, useLoaded } from "../../state/use-app.ts";
import { ask, type Tool, type TrustedDestination } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import type { Remembered } from "./decision.tsx";
import { FindTool } from "./find-tool.tsx";
import { InstallTool } from "./install-tool.tsx";
import { Servers } from "./servers/servers.tsx";
import { ToolCard } from "./tool-card.tsx";

/** `shown` is the tool that the address names. */
export function ToolsPage({ shown }: { shown: string | undefined }) {
  const { user } = useApp();
  const [{ tools } = {}, loadTools] = useLoaded<{ tools: readonly Tool[] }>("/api/tools");
  const [{ remembered = {} } = {}, loadDecisions] = useLoaded<{ remembered: Remembered }>("/api/approvals");
  const [hasServers, setHasServers] = useState(false);
  const isOperator = user?.role === "operator";

  const load = () => Promise.all([loadTools(), loadDecisions()]);
  const isLoaded = tools !== undefined && hasServers;
  useEffect(() => {
    const card = isLoaded && shown ? document.getElementById(`tool-${shown}`) : null;
    card?.scrollIntoView();
    card?.focus();
  }, [isLoaded, shown]);
  const own = tools?.filter(({ server }) => !server);

  return (
    <Page title="Tools">
      {isOperator && <InstallTool onInstalled={() => void load()} />}
      {isOperator && (
        <FindTool installed={(tools ?? []).map(({ name }) => name)} onInstalled={() => void load()} />
      )}
      {own?.length === 0 && <p class="soft">No tools are installed.</p>}
      {own?.map((tool) => (
        <ToolCard
          key={tool.name}
          tool={tool}
          remembered={remembered[tool.name]}
          isOperator={isOperator}
          onChanged={() => void load()}
        />
      ))}
      <Servers
        tools={tools ?? []}
        remembered={remembered}
        isOperator={isOperator}
        onChanged={() => void load()}
        onLoaded={() => setHasServers(true)}
      />
      <Destinations isOperator={isOperator} />
    </Page>
  );
}

/** Trusted destinations, with buttons to remove them. */
export function Destinations({ isOperator }: { isOperator: boolean }) {
  const [known, load] = useLoaded<{ destinations: readonly TrustedDestination[] }>("/api/destinations");
  const remove = async ({ value, tool, user }: TrustedDestination) => {
    const body = { value, tool, for_all: user ? undefined : true };
    await attempt(() => ask("POST", "/api/destinations/remove", body));
    await load();
  };
  if (!known) return null;
  return (
    <section class="card" aria-label="Trusted destinations">
      <h2>Trusted destinations</h2>
      <p class="soft">
        A call to an address that you did not give yourself asks first. For these, the address alone is no
        reason to ask.
      </p>
      {known.destinations.length === 0 && <p class="soft">There are none.</p>}
      <ul class="entries">
        {known.destinations.map((one) => (
          <li key={JSON.stringify([one.value, one.tool, one.user])}>
            <span>
              <bdi>{visibleLine(one.value)}</bdi>
              <span class="soft">
                {one.tool ?? "every tool"} · {one.user === undefined ? "for everybody" : "for you"} · since{" "}
                {new Date(one.added_at).toLocaleDateString()}
              </span>
            </span>
            {(one.user !== undefined || isOperator) && (
              <button
                type="button"
                class="danger"
                aria-label={`Remove ${visibleLine(one.value)}`}
                onClick={() => void remove(one)}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
