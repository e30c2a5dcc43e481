import { useState } from "preact/hooks";
import { visible, visibleLine } from "../../../../kernel/kit/text.ts";
import { Code } from "../../chat/prose/code.tsx";
import { Prose } from "../../chat/prose/prose.tsx";
import { contentUrl, nameIn } from "../../state/files.ts";
import { useLoaded } from "../../state/use-app.ts";
import type { FileEntry, FileText } from "../../state/wire.ts";
import { text as known } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { LoadingState } from "../../widgets/states.tsx";
import { parseCsv } from "./csv.ts";

const words = known.files;

const MAX_ROWS = 200;
const MAX_COLUMNS = 50;

/** What is in a file: a picture, a table, Markdown, or text with colours. */
export function Preview({ entry }: { entry: FileEntry }) {
  const { path, mime } = entry;
  const name = visibleLine(nameIn(path));
  if (mime.startsWith("image/"))
    return (
      <section class="card" aria-label={words.preview}>
        <img class="preview" src={contentUrl(path, entry.version)} alt={name} />
      </section>
    );
  return <TextPreview entry={entry} />;
}

function TextPreview({ entry: { path, mime, version } }: { entry: FileEntry }) {
  const query = new URLSearchParams({ path, ...(version > 0 && { version: String(version) }) });
  const [found] = useLoaded<FileText>(`/api/workspace/text?${query}`);
  const [isSource, setSource] = useState(false);
  if (!found) return <LoadingState lines={6} label={known.basics.loading} />;
  const { text, is_complete, problem } = found;
  const rich = RICH[mime];
  return (
    <section class="card" aria-label={words.preview}>
      {problem !== undefined && <p class="soft">{words.noPreview(visibleLine(problem))}</p>}
      {problem === undefined && text === "" && <p class="soft">{words.emptyFile}</p>}
      {rich && text !== "" && (
        <span class="row">
          <Button
            label={words.asText}
            aria-pressed={isSource}
            class="small"
            onClick={() => setSource(!isSource)}
          />
        </span>
      )}
      {text !== "" &&
        (rich && !isSource ? (
          rich(text)
        ) : (
          <Code text={visible(text)} language={languageOf(path)} label={labelOf(path)} />
        ))}
      {!is_complete && problem === undefined && <p class="soft">{words.beginning}</p>}
    </section>
  );
}

const RICH: Readonly<Record<string, (text: string) => preact.JSX.Element>> = {
  "text/markdown": (text) => <Prose text={text} />,
  "text/csv": (text) => <Table text={text} separator={undefined} />,
  "text/tab-separated-values": (text) => <Table text={text} separator={"\t"} />,
};

const extensionOf = (path: string) => /\.([A-Za-z\d]{1,10})$/.exec(path)?.[1]?.toLowerCase() ?? "";

/** The library for colours knows languages by the usual endings of names. */
const languageOf = (path: string) => extensionOf(path);
const labelOf = (path: string) => extensionOf(path) || words.plainText;

function Table({ text, separator }: { text: string; separator: string | undefined }) {
  const rows = parseCsv(text, MAX_ROWS + 1, separator);
  const [head = [], ...body] = rows.map((row) => row.slice(0, MAX_COLUMNS));
  const hasMore = rows.length > MAX_ROWS;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="wide sheet" tabIndex={0} aria-label={words.table}>
        <table>
          <thead>
            <tr>
              {head.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
                <th key={at} scope="col" dir="auto">
                  {visibleLine(cell) || "\u00a0"}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, MAX_ROWS).map((row, line) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two rows may be alike, and none of them moves
              <tr key={line}>
                {row.map((cell, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its place
                  <td key={at} dir="auto">
                    {visibleLine(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {hasMore && <p class="soft">{words.firstRows(MAX_ROWS)}</p>}
    </>
  );
}
