import { useEffect, useState } from "preact/hooks";
import type { CodeRun } from "../../../../kernel/kit/display.ts";
import { visible, visibleJson, visibleLine } from "../../../../kernel/kit/text.ts";
import { request } from "../../state/app.ts";
import { contentUrl, filesLink } from "../../state/files.ts";
import type { ToolReceipt } from "../../state/wire.ts";
import { duration } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { FileLink } from "../../widgets/change-set.tsx";
import { sizeWords } from "../attachments/draft-files.ts";
import { Code } from "../prose/code.tsx";
import { themedChart } from "./chart-colours.ts";

interface CodeRunProps {
  readonly run: CodeRun;
  readonly receipt: string | undefined;
}

/** A run of code: what the model wrote, what it printed and returned, the files it made and the tools it called. */
export function CodeRunView({ run: { code, result }, receipt }: CodeRunProps) {
  return (
    <>
      <Code text={visible(code)} language="typescript" label={text.chat.code.code} />
      {result && (
        <>
          {result.printed !== "" && <Output title={text.chat.code.printed} text={visible(result.printed)} />}
          {result.value !== "" && <Output title={text.chat.code.value} text={visibleJson(result.value)} />}
          {result.files.length > 0 && (
            <>
              <h3>{text.pages.files}</h3>
              <ul class="changes">
                {result.files.map(({ path, bytes }) => (
                  <li key={path}>
                    <FileLink path={path} /> <span class="soft">{sizeWords(bytes)}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          {result.calls > 0 && <InnerCalls count={result.calls} receipt={receipt} />}
        </>
      )}
    </>
  );
}

/** The tools that the code called, as the receipt has them: neither what they were given nor what they said. */
function InnerCalls({ count, receipt }: { count: number; receipt: string | undefined }) {
  const [calls, setCalls] = useState<ToolReceipt["calls"]>();
  const open = async () => {
    const found = receipt && (await request<ToolReceipt>("GET", `/api/receipts/${receipt}`));
    if (found) setCalls(found.calls);
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void open()}>
      <summary>{text.chat.code.called(count)}</summary>
      <ol class="inner-calls">
        {calls?.map(({ tool, status, message, millis }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two calls may be alike, and none of them moves
          <li key={at}>
            <b>{visibleLine(tool)}</b>{" "}
            <span class={status === "ok" ? "soft" : "failed"}>
              {status === "ok"
                ? text.chat.calls.succeeded
                : text.chat.code.failed(visibleLine(message ?? ""))}
              , {duration(millis)}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Output({ title, text: printed }: { title: string; text: string }) {
  return (
    <>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{printed}</pre>
    </>
  );
}

/** Charts as pictures: an SVG that is loaded as one can neither run a script nor load anything. */
export function Charts({ of: charts }: { of: NonNullable<CodeRun["result"]>["charts"] }) {
  return charts.map((chart) => <Chart key={chart.path} {...chart} />);
}

function Chart({ path, title }: { path: string; title: string }) {
  const [isGone, setGone] = useState(false);
  const [source, setSource] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    const load = async () => {
      const answer = await fetch(contentUrl(path));
      const svg = answer.ok ? await answer.text() : undefined;
      if (!isCurrent) return;
      if (svg === undefined) setGone(true);
      else setSource(themedChart(svg) ?? contentUrl(path));
    };
    load().catch(() => setGone(true));
    return () => {
      isCurrent = false;
    };
  }, [path]);
  const words = visibleLine(title || path);
  if (isGone) return <p class="soft">{text.chat.code.chartGone(words)}</p>;
  return (
    <figure class="chart-picture">
      <a href={filesLink(path)}>
        <img src={source} alt={words} onError={() => setGone(true)} />
      </a>
    </figure>
  );
}
