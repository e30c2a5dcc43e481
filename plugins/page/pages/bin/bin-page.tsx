import Trash from "lucide/dist/esm/icons/trash.mjs";
import { useState } from "preact/hooks";
import { attempt, request } from "../../state/app.ts";
import { restore } from "../../state/threads.ts";
import { useShown } from "../../state/use-app.ts";
import { ask, type BinnedRow, type BinPage as Listed } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.bin;
const FIRST = "/api/bin?limit=50";

/** The deleted threads, until they are deleted for good. */
export function BinPage() {
  const first = useShown<Listed>(FIRST);
  const [more, setMore] = useState<Listed>();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const rows = [...(first.answer?.threads ?? []), ...(more?.threads ?? [])].filter(({ id }) => !gone.has(id));
  const { next = null } = more ?? first.answer ?? {};
  const showMore = async () => {
    const page = await attempt(() => ask<Listed>("GET", `${FIRST}&before=${encodeURIComponent(next ?? "")}`));
    if (page) setMore({ ...page, threads: [...(more?.threads ?? []), ...page.threads] });
  };
  /** The row goes, and the focus with it, so the next one gets it. */
  const takeOut = async (row: Element | null | undefined, ids: readonly string[]) => {
    const beside = row?.nextElementSibling ?? row?.previousElementSibling;
    setGone(new Set([...gone, ...ids]));
    await new Promise(requestAnimationFrame);
    (beside ?? document.querySelector(".page"))?.querySelector<HTMLElement>("button, a")?.focus();
  };
  const onRestore = async ({ id, title }: BinnedRow) => {
    const row = document.activeElement?.closest("tr");
    if (!(await restore(id))) return;
    const open = () => {
      location.hash = `#/chat/${id}`;
    };
    toast(words.restored(title), { label: text.basics.open, run: open });
    await takeOut(row, [id]);
  };
  const onDelete = async ({ id, title }: BinnedRow) => {
    const row = document.activeElement?.closest("tr");
    const question = { title: words.deleteTitle(title), words: words.deleteWords, yes: words.forGood };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (!(await request("DELETE", `/api/threads/${id}?now=true`))) return;
    toast(words.deleted(1));
    await takeOut(row, [id]);
  };
  const onEmpty = async () => {
    const question = { title: words.emptyTitle, words: words.emptyWords, yes: words.forGood };
    if (!(await confirmed({ ...question, danger: true }))) return;
    const answer = await request<{ deleted: number }>("DELETE", "/api/bin");
    if (!answer) return;
    toast(words.deleted(answer.deleted));
    setMore({ threads: [], next: null });
    await takeOut(
      undefined,
      rows.map(({ id }) => id),
    );
  };

  return (
    <Page
      title={text.pages.bin}
      actions={rows.length > 0 && <Button label={words.empty} class="danger" onClick={onEmpty} />}
    >
      <Loaded of={first}>
        {() =>
          rows.length === 0 && next === null ? (
            <EmptyState
              title={words.none}
              icon={Trash}
              action={
                <a class="button" href="#/">
                  {text.frame.toChat}
                </a>
              }
            >
              {words.note}
            </EmptyState>
          ) : (
            <>
              <p class="soft">{words.note}</p>
              <List columns={[words.columns.title, words.columns.deleted, words.columns.gone]} items={rows}>
                {(row) => (
                  <tr key={row.id}>
                    <td dir="auto">{row.title}</td>
                    <td class="whole">
                      <Moment at={row.binned_at} />
                    </td>
                    <td class="whole">
                      <Moment at={row.expires_at} />
                    </td>
                    <td>
                      {" "}
                      <Button
                        label={text.basics.restore}
                        aria-label={words.restore(row.title)}
                        onClick={() => onRestore(row)}
                      />
                      <Button
                        label={words.forGood}
                        aria-label={words.deleteOf(row.title)}
                        class="danger"
                        onClick={() => onDelete(row)}
                      />
                    </td>
                  </tr>
                )}
              </List>
              {next !== null && <Button label={text.basics.showMore} onClick={showMore} />}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
