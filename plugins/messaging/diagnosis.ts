/** Checks of `postern doctor`: did messages get stuck, and does somebody wait to be let in? */
import type { Finding, StoreLook } from "../../kernel/plugin.ts";

const MAX_WAIT_MS = 3_600_000;

export async function examineMessages({ rows }: StoreLook): Promise<readonly Finding[]> {
  const [letters, requests, channels] = await Promise.all([
    rows<{ dead: number; oldest: string | null }>(
      `SELECT COALESCE(SUM(CASE WHEN status IN ('dead', 'unknown') THEN 1 ELSE 0 END), 0) AS dead,
         MIN(CASE WHEN status IN ('waiting', 'sending') THEN created_at END) AS oldest FROM messaging_outbox`,
    ),
    rows<{ count: number }>("SELECT count(*) AS count FROM messaging_requests"),
    rows<{ name: string; detail: string }>(
      "SELECT name, detail FROM messaging_channels WHERE node IS NOT NULL AND is_connected = 0",
    ),
  ]);
  const dead = Number(letters[0]?.dead ?? 0);
  const oldest = letters[0]?.oldest;
  const waiting = Number(requests[0]?.count ?? 0);
  const isLate = oldest != null && Date.now() - Date.parse(oldest) > MAX_WAIT_MS;
  const problems = [
    ...(dead > 0 ? [`${dead} could not be sent: "postern messages list" shows why`] : []),
    ...(isLate ? [`the oldest has waited since ${oldest}`] : []),
  ];
  return [
    {
      name: "chat messages",
      ok: true,
      warning: problems.length > 0,
      detail: problems.length > 0 ? problems.join("; ") : "none is stuck",
    },
    ...channels.map(({ name, detail }) => ({
      name: `channel ${name}`,
      ok: true,
      warning: true,
      detail: `not connected${detail === "" ? "" : `: ${detail}`}`,
    })),
    ...(waiting > 0
      ? [
          {
            name: "pairing requests",
            ok: true,
            warning: true,
            detail: `${waiting} waiting: "postern channel list" shows them, and the page Channels lets them in`,
          },
        ]
      : []),
  ];
}
