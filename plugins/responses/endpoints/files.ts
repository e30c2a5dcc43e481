/** `/files`: upload, list, get, read and delete. */
import { Readable } from "node:stream";
import type { Context } from "koa";
import { createFormReader, type Declared, type Form, Type } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { inSeconds } from "../answer/response.ts";
import { MOST_FILES, type StoredFile, type StoredFiles } from "../stored/files.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";
import type { Endpoint, Mounting } from "./endpoint.ts";

export interface FileParts extends Mounting {
  readonly files: StoredFiles;
  readonly fileBytes: number;
}

const Purpose = Type.Enum(["assistants", "batch", "evals", "fine-tune", "user_data", "vision"], {
  refusal: "must be assistants, batch, evals, fine-tune, user_data or vision",
});

const Fields = Type.Object({
  purpose: Purpose,
  "expires_after[anchor]": Type.Optional(Type.Literal("created_at", { refusal: 'must be "created_at"' })),
  "expires_after[seconds]": Type.Optional(
    Type.String({
      pattern: "^[1-9]\\d{3,6}$",
      description: "From an hour to 30 days",
      refusal: "must be a number of seconds from 3600 to 2592000",
    }),
  ),
});

const UploadForm = Type.Object({ file: Type.String({ format: "binary" }), ...Fields.properties });

const FileQuery = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: "^([1-9]\\d{0,3}|10000)$", refusal: "must be a number from 1 to 10000" }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { refusal: "must be asc or desc" })),
  after: Type.Optional(Type.String({ pattern: "^file-[0-9a-f]{32}$", refusal: "must be the id of a file" })),
  purpose: Type.Optional(Type.String({ pattern: "^[a-z_-]{1,64}$", refusal: "must be a purpose" })),
});

const seconds = Type.Integer({ description: "Seconds since 1970" });

const FileObject = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("file"),
    bytes: Type.Integer(),
    created_at: seconds,
    expires_at: Type.Optional(seconds),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Literal("processed"),
  },
  { $id: "File" },
);
type FileObject = Declared<typeof FileObject>;

const FileList = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(FileObject),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

const DeletedFile = Type.Object({
  id: Type.String(),
  object: Type.Literal("file"),
  deleted: Type.Literal(true),
});

const checkFields = compile(Fields);
const checkQuery = compile(FileQuery);

const LONGEST_SECONDS = 30 * 24 * 60 * 60;
const SHORTEST_SECONDS = 60 * 60;
// Each is in memory until it is stored.
const UPLOADS_AT_ONCE = 4;
// Fields, names and boundaries beside the file.
const FORM_BYTES = 64 * 1024;
const MISSING = { 404: "There is no such file" };

export function fileEndpoints({ web, files, fileBytes }: FileParts): readonly Endpoint[] {
  const readForm = createFormReader(fileBytes + FORM_BYTES);
  const uploading = new Map<string, number>();

  async function upload(context: Context): Promise<void> {
    const user = web.user(context).id;
    const others = uploading.get(user) ?? 0;
    if (others >= UPLOADS_AT_ONCE)
      throw new Fault(
        "limited",
        "too_many_uploads",
        `You are uploading ${UPLOADS_AT_ONCE} files already: wait until one has arrived.`,
      );
    uploading.set(user, others + 1);
    try {
      await files.refuseFull(user, 1);
      context.body = shown(await take(user, await read(context)));
    } finally {
      const left = (uploading.get(user) ?? 1) - 1;
      if (left > 0) uploading.set(user, left);
      else uploading.delete(user);
    }
  }

  async function read(context: Context): Promise<Form> {
    try {
      return await readForm(context);
    } catch (error) {
      throw (error as { status?: unknown }).status === 413 ? tooLarge(fileBytes) : error;
    }
  }

  async function take(user: string, form: Form): Promise<StoredFile> {
    const file = form.file("file");
    if (file === undefined || file.bytes.byteLength === 0)
      throw invalid("file", "invalid_file", '"file" must be a file that is not empty.');
    if (file.bytes.byteLength > fileBytes) throw tooLarge(fileBytes);
    const given = Object.keys(Fields.properties).map((name) => [name, form.text(name)]);
    const fields = checkFields(Object.fromEntries(given.filter(([, text]) => text !== undefined)));
    const { purpose, "expires_after[seconds]": after } = fields;
    return files.add(user, {
      ...{ name: file.name, mime: file.mime, purpose, data: file.bytes },
      ...(after !== undefined && { expiresAfterSecs: lifetime(Number(after)) }),
    });
  }

  async function find(context: Context): Promise<StoredFile> {
    const file = await files.find(web.user(context).id, String(context["params"].id));
    if (file === undefined) throw notFound();
    return file;
  }

  async function list(context: Context): Promise<void> {
    const { limit = "10000", order = "desc", after, purpose } = checkQuery({ ...context.query });
    const most = Math.min(Number(limit), MOST_FILES);
    const found = await files.list(web.user(context).id, {
      ...{ limit: most + 1, order },
      ...(after !== undefined && { after }),
      ...(purpose !== undefined && { purpose }),
    });
    const data = found.slice(0, most).map(shown);
    const answer: Declared<typeof FileList> = {
      object: "list",
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: found.length > most,
    };
    context.body = answer;
  }

  async function content(context: Context): Promise<void> {
    const file = await find(context);
    // Never shown as a page of ours: a stranger may have written it.
    context.attachment(file.name);
    context.type = "application/octet-stream";
    context.body = Readable.from(files.content(file));
    context.length = file.bytes;
  }

  async function remove(context: Context): Promise<void> {
    const { user, id } = await find(context);
    if (!(await files.remove(user, id))) throw notFound();
    const deleted: Declared<typeof DeletedFile> = { id, object: "file", deleted: true };
    context.body = deleted;
  }

  return [
    {
      method: "post",
      path: "/files",
      summary: "Upload a file, to name it in the input of a response",
      form: UploadForm,
      answer: FileObject,
      refusals: { 413: "The file is too large", 429: "Too many uploads at once" },
      handle: upload,
    },
    {
      method: "get",
      path: "/files",
      summary: "List your files",
      query: FileQuery,
      answer: FileList,
      handle: list,
    },
    {
      method: "get",
      path: "/files/{id}",
      summary: "Get what is known of a file",
      answer: FileObject,
      refusals: MISSING,
      handle: async (context) => {
        context.body = shown(await find(context));
      },
    },
    {
      method: "get",
      path: "/files/{id}/content",
      summary: "Read a file",
      answer: "application/octet-stream",
      refusals: MISSING,
      handle: content,
    },
    {
      method: "delete",
      path: "/files/{id}",
      summary: "Delete a file",
      answer: DeletedFile,
      refusals: MISSING,
      handle: remove,
    },
  ];
}

const shown = ({ id, bytes, createdAt, expiresAt, name, purpose }: StoredFile): FileObject => ({
  id,
  object: "file",
  bytes,
  created_at: inSeconds(createdAt),
  ...(expiresAt !== null && { expires_at: inSeconds(expiresAt) }),
  filename: name,
  purpose,
  status: "processed",
});

function lifetime(secs: number): number {
  if (secs >= SHORTEST_SECONDS && secs <= LONGEST_SECONDS) return secs;
  const param = "expires_after[seconds]";
  throw invalid(param, "invalid_expires_after", `"${param}" must be from 3600 to 2592000.`);
}

const tooLarge = (bytes: number) =>
  invalid(
    "file",
    "file_too_large",
    `A file may have at most ${bytes / (1024 * 1024)} MiB (RESPONSES_FILE_MB).`,
  );

const notFound = () =>
  new Fault("missing", "file_not_found", "You have no file with this id.", { param: "file_id" });
