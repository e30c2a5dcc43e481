import Plus from "lucide/dist/esm/icons/plus.mjs";
import Wrench from "lucide/dist/esm/icons/wrench.mjs";
import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { changeThen } from "../../state/app.ts";
import { useApp, useShown } from "../../state/use-app.ts";
import {
  ask,
  type McpServer,
  type Skill,
  type SkillProblem,
  type Tool,
  type TrustedDestination,
} from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import type { Remembered } from "./decision.tsx";
import { FindTool } from "./find-tool.tsx";
import { InstallTool } from "./install-tool.tsx";
import { AddServer } from "./servers/add-server.tsx";
import { ServerCard } from "./servers/server-card.tsx";
import { Skills } from "./skills.tsx";
import { ToolCard } from "./tool-card.tsx";

const words = text.tools;

interface Everything {
  readonly tools: readonly Tool[];
  readonly remembered: Remembered;
  readonly servers: readonly McpServer[];
  readonly destinations: readonly TrustedDestination[];
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** `shown` is the tool that the address names. */
export function ToolsPage({ shown }: { shown: string | undefined }) {
  const { user } = useApp();
  const isOperator = user?.role === "operator";
  const [isAdding, setAdding] = useState(false);
  const all = useShown(async (): Promise<Everything> => {
    const paths = ["tools", "approvals", "mcp/servers", "destinations", "skills"];
    const found = await Promise.all(paths.map((name) => ask<Partial<Everything>>("GET", `/api/${name}`)));
    return { remembered: {}, ...Object.assign({}, ...found) };
  });
  const load = () => void all.load();
  const isLoaded = all.answer !== undefined;
  useEffect(() => {
    const card = isLoaded && shown ? document.getElementById(`tool-${shown}`) : null;
    card?.scrollIntoView();
    card?.focus();
  }, [isLoaded, shown]);
  const add = <Button label={words.add} icon={Plus} class="primary" onClick={() => setAdding(true)} />;

  return (
    <Page title={text.pages.tools} actions={isOperator && !isAdding && add}>
      {isAdding && (
        <Card
          title={words.add}
          note={words.addNote}
          actions={<Button label={text.basics.close} class="small" onClick={() => setAdding(false)} />}
        >
          <FindTool installed={(all.answer?.tools ?? []).map(({ name }) => name)} onInstalled={load} />
          <InstallTool onInstalled={load} />
          <AddServer onAdded={load} />
        </Card>
      )}
      <Loaded of={all} lines={8}>
        {({ tools, servers, remembered, destinations, skills, problems }) => {
          const own = tools.filter(({ server }) => !server);
          return (
            <>
              {own.length === 0 && (
                <EmptyState title={words.none} icon={Wrench}>
                  {words.noneNote} {!isOperator && words.noneForUser}
                </EmptyState>
              )}
              <h2 class="unseen">{words.installed}</h2>
              <div class="tools">
                {own.map((tool) => (
                  <ToolCard
                    key={tool.name}
                    {...{ tool, isOperator }}
                    isShown={tool.name === shown}
                    remembered={remembered[tool.name]}
                    onChanged={load}
                  />
                ))}
              </div>
              {servers.length > 0 && <h2>{words.servers.title}</h2>}
              <div class="tools">
                {servers.map((server) => (
                  <ServerCard
                    key={server.name}
                    {...{ server, tools, remembered, isOperator, shown }}
                    onChanged={load}
                  />
                ))}
              </div>
              <Skills of={skills} {...{ problems, isOperator }} onChanged={load} />
              <Destinations of={destinations} isOperator={isOperator} onChanged={load} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const nameOf = ({ value, rule }: TrustedDestination): string =>
  rule ? words.destinations.rule(rule) : visibleLine(value);

interface DestinationsProps {
  readonly of: readonly TrustedDestination[];
  readonly isOperator: boolean;
  onChanged(): void;
}

/** Trusted destinations, with buttons to remove them. */
function Destinations({ of: destinations, isOperator, onChanged }: DestinationsProps) {
  const change = changeThen(onChanged);
  const { title, note, none, everyTool, forAll, forYou, since } = words.destinations;
  const remove = ({ value, tool, user }: TrustedDestination) =>
    change("POST", "/api/destinations/remove", { value, tool, for_all: user ? undefined : true });
  return (
    <Card title={title} note={note} label={title}>
      {destinations.length === 0 && <p class="soft">{none}</p>}
      <ul class="entries">
        {destinations.map((one) => (
          <li key={JSON.stringify([one.value, one.tool, one.user])}>
            <span>
              <bdi>{nameOf(one)}</bdi>
              <span class="soft">
                {[one.tool ?? everyTool, one.user === undefined ? forAll : forYou, since(one.added_at)].join(
                  " · ",
                )}
              </span>
            </span>
            {(one.user !== undefined || isOperator) && (
              <Button
                label={text.basics.remove}
                class="small danger"
                aria-label={words.destinations.remove(nameOf(one))}
                onClick={() => remove(one)}
              />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
