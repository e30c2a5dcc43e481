/** Files both ways: what came with a message becomes an attachment of its turn, and what a turn wrote goes out with its answer. */
import { readCodeRun } from "../../kernel/kit/display.ts";
import { cleanFileName } from "../../kernel/kit/files.ts";
import { Fault, reason, type Services, type TurnRecord } from "../../kernel/plugin.ts";
import type { JobTurn } from "../jobs/services.ts";
import type { FileRef } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { IncomingFile, OutgoingMessage } from "./services.ts";

/** What came with a message, as its job takes it. */
export interface TakenFiles {
  readonly turn: Pick<JobTurn, "attached"> & { readonly attachments: readonly AttachmentOf[] };
  /** What became of those that are no attachment, for the model to read. */
  readonly notes: readonly string[];
  /** Why files were not taken, for the person. */
  readonly refusals: readonly string[];
  /** The job has its own copy. */
  drop(): Promise<void>;
}

type AttachmentOf = Awaited<ReturnType<Services["attachments"]["bring"]>>["attachments"][number];

const MAX_FILES_IN = 10;
const MAX_FILES_OUT = 10;
const DOWNLOAD_MS = 60_000;
const SVG = "image/svg+xml";
/** Where files lie that a model cannot be shown, such as a voice message. */
const FOLDER = "/inbox";

export type Files = ReturnType<typeof createFiles>;

export function createFiles({
  service,
  attachments,
  threads,
  workspace,
  pictures,
  log,
}: Pick<ChannelParts, "service" | "attachments" | "threads" | "workspace" | "pictures" | "log">) {
  const { fileBytes } = service.limits;

  async function takeOne(
    user: string,
    id: string,
    file: IncomingFile,
    refusals: string[],
  ): Promise<string | { id: string }> {
    const name = cleanFileName(file.name) || "file";
    const most = Math.max(attachments.limits.fileBytes, fileBytes);
    if (!service.download) return `(${name}: files cannot be received here)`;
    if ((file.bytes ?? 0) > most) {
      refusals.push(`${name} is too large: send a smaller one, or upload it on the page.`);
      return `(${name} was not taken: it is too large)`;
    }
    let data: Uint8Array;
    try {
      data = await service.download(file, most, AbortSignal.timeout(DOWNLOAD_MS));
    } catch (error) {
      if (error instanceof Fault && error.kind === "invalid") {
        refusals.push(error.message);
        return `(${name} was not taken: ${error.message})`;
      }
      log.warn({ error, channel: service.name }, `a file could not be fetched: ${reason(error)}`);
      return `(${name} could not be fetched)`;
    }
    try {
      return { id: (await attachments.add(user, { name, data })).id };
    } catch (error) {
      if (!(error instanceof Fault) || error.kind === "unavailable") throw error;
      if (!workspace) return `(${name} was not taken: ${error.message})`;
      const path = `${FOLDER}/${id.replaceAll(/[^\w.-]/g, "-").slice(-40)}-${name}`;
      const writer = { kind: "api", channel: service.name } as const;
      const origins = [{ kind: "file", name }] as const;
      try {
        await workspace.apply(user, [{ op: "write", path, data }], { writer, origins });
        return `(${name} is in the workspace: ${path})`;
      } catch (failed) {
        if (!(failed instanceof Fault) || failed.kind === "unavailable") throw failed;
        return `(${name} was not taken: ${failed.message})`;
      }
    }
  }

  return {
    async take(user: string, id: string, files: readonly IncomingFile[]): Promise<TakenFiles> {
      const taken: string[] = [];
      const notes: string[] = [];
      const refusals: string[] = [];
      for (const file of files.slice(0, MAX_FILES_IN)) {
        const one = await takeOne(user, id, file, refusals);
        if (typeof one === "string") notes.push(one);
        else taken.push(one.id);
      }
      if (files.length > MAX_FILES_IN)
        notes.push(`(${files.length - MAX_FILES_IN} more files were not taken)`);
      const brought = await attachments.bring(user, taken);
      return {
        notes,
        refusals,
        turn: {
          attachments: brought.attachments,
          attached: brought.attached.map(({ id, data }) => ({
            id,
            base64: Buffer.from(data).toString("base64"),
          })),
        },
        async drop() {
          for (const id of taken) await attachments.remove(user, id).catch(() => {});
        },
      };
    },

    /** Files that a turn wrote to the workspace, and those that its tools returned; a note for each that is too large to send. */
    async of(
      record: TurnRecord,
    ): Promise<{ readonly refs: readonly FileRef[]; readonly notes: readonly string[] }> {
      const returned = record.items.flatMap((item) =>
        item.type === "tool_result" ? (item.attachments ?? []) : [],
      );
      const sets = workspace ? (await workspace.log(record.user, { turn: record.id, limit: 20 })).items : [];
      const written = new Map<string, number | undefined>();
      // Newest first: the last version of each path counts.
      for (const { changes } of sets)
        for (const { path, change, after, isFolder, to } of changes) {
          const target = change === "moved" ? to : path;
          if (!isFolder && change !== "removed" && target !== undefined && !written.has(target))
            written.set(target, after);
        }
      // A chart that is drawn again as it was changes no file, and is expected all the same.
      for (const path of chartsOf(record)) if (!written.has(path)) written.set(path, undefined);
      const refs: FileRef[] = [];
      const notes: string[] = [];
      for (const { id, mime, name, size } of returned) {
        const clean = cleanFileName(name ?? "") || "file";
        if (size > fileBytes) notes.push(`(${clean} is too large to send here.)`);
        else refs.push({ attachment: id, mime, name: clean });
      }
      for (const [path, version] of written) {
        const entry = await workspace?.find(record.user, path);
        if (entry?.kind !== "file") continue;
        if (entry.bytes > fileBytes)
          notes.push(`(${path} is too large to send here. It is in your workspace.)`);
        else refs.push({ path, version, mime: entry.mime, name: path.slice(path.lastIndexOf("/") + 1) });
      }
      if (refs.length > MAX_FILES_OUT)
        notes.push(`(${refs.length - MAX_FILES_OUT} more files are in your workspace.)`);
      return { refs: refs.slice(0, MAX_FILES_OUT), notes };
    },

    /** Their bytes; without those that are gone or larger than the service takes. Charts become pictures, which every chat shows. */
    async load(user: string, refs: readonly FileRef[]): Promise<NonNullable<OutgoingMessage["files"]>> {
      const loaded: { name: string; mime: string; data: Uint8Array }[] = [];
      for (const { name, mime, path, version, attachment } of refs) {
        const data =
          path === undefined
            ? (await threads.attachment(user, attachment ?? ""))?.data
            : (await workspace?.read(user, path, version ? { version } : {}))?.data;
        if (data === undefined || data.length > fileBytes) continue;
        const png = mime === SVG ? await pictures.draw(Buffer.from(data).toString()) : undefined;
        if (png === undefined || png.length > fileBytes) loaded.push({ name, mime, data });
        else loaded.push({ name: name.replace(/(\.svg)?$/i, ".png"), mime: "image/png", data: png });
      }
      return loaded;
    },
  };
}

/** The paths of the charts that code drew in this turn. */
function chartsOf({ items }: TurnRecord): readonly string[] {
  return items.flatMap((item) => {
    if (item.type !== "tool_result" || item.outcome.status !== "ok") return [];
    const made = items.find((each) => each.type === "tool_call" && each.call.id === item.call);
    const run = made?.type === "tool_call" ? readCodeRun(made.call, item.outcome.output) : undefined;
    return run?.result?.charts.map(({ path }) => path) ?? [];
  });
}
