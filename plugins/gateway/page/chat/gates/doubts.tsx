import { type Piece, tell } from "../../../../../kernel/vocabulary/doubts.ts";
import type { Doubt } from "../../state/wire.ts";

/** Why a call is asked about although its tool may run: the sentences, and what was said where the values come from. */
export function Doubts({ of: doubts }: { of: readonly Doubt[] }) {
  if (doubts.length === 0) return null;
  return (
    <ul class="doubts">
      {tell(doubts).map(({ sentence, source, excerpt }) => (
        <li key={sentence.map(({ text }) => text).join("")}>
          <p>
            <Pieces of={sentence} />
          </p>
          {excerpt && (
            <figure>
              {source !== undefined && (
                <figcaption>
                  <bdi>{source}</bdi> says:
                </figcaption>
              )}
              <blockquote dir="auto">
                <Pieces of={excerpt} />
              </blockquote>
            </figure>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Each in a direction of its own: a stranger's letters must not move ours. */
function Pieces({ of: pieces }: { of: readonly Piece[] }) {
  return pieces.map(({ at, text, mark }) =>
    mark === undefined ? (
      text
    ) : mark === "source" ? (
      <bdi key={at} class="source">
        {text}
      </bdi>
    ) : (
      <mark key={at}>
        <bdi>{text}</bdi>
      </mark>
    ),
  );
}
