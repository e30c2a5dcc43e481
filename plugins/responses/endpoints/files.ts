/** `/files`: upload, list, get, read and delete. */
import { Readable } from "node:stream";
import { type Asked, createFormReader, type Form } from "../../../kernel/kit/http.ts";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { Fault, type User } from "../../../kernel/plugin.ts";
import { inSeconds } from "../answer/response.ts";
import { MAX_FILES, type StoredFile } from "../stored/files.ts";
import { compile, invalid } from "../wire/refusal.ts";
import {
  createSlots,
  type Endpoint,
  type EndpointParts,
  endpoint,
  listOf,
  OTHERS,
  refuseOthers,
  toPage,
} from "./endpoint.ts";

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

const DeletedFile = Type.Object({
  id: Type.String(),
  object: Type.Literal("file"),
  deleted: Type.Literal(true),
});

const checkFields = compile(Fields);

const MAX_LIFETIME_SECS = 30 * 24 * 60 * 60;
const MIN_LIFETIME_SECS = 60 * 60;
// Each is in memory until it is stored.
const MAX_UPLOADS_AT_ONCE = 4;
// Fields, names and boundaries beside the file.
const FORM_BYTES = 64 * 1024;
const MISSING = { 404: "There is no such file" };

export function fileEndpoints({ files, maxFileBytes }: EndpointParts): readonly Endpoint[] {
  const readForm = createFormReader(maxFileBytes + FORM_BYTES);
  const inSlot = createSlots(MAX_UPLOADS_AT_ONCE, tooManyUploads);

  async function add({ id: user, scope }: User, form: Form): Promise<StoredFile> {
    const file = form.file("file");
    if (file === undefined || file.bytes.byteLength === 0)
      throw invalid("file", "invalid_file", '"file" must be a file that is not empty.');
    if (file.bytes.byteLength > maxFileBytes) throw tooLarge(maxFileBytes);
    const given = Object.keys(Fields.properties).map((name) => [name, form.text(name)]);
    const fields = checkFields(Object.fromEntries(given.filter(([, text]) => text !== undefined)));
    const { purpose, "expires_after[seconds]": after } = fields;
    const expiresAfterSecs = after === undefined ? undefined : lifetime(Number(after));
    const { name, mime, bytes: data } = file;
    return files.add(user, { name, mime, purpose, data, expiresAfterSecs, token: scope?.token });
  }

  async function find({ user, params }: Asked & { readonly user: User }): Promise<StoredFile> {
    const file = await files.find(user.id, String(params["id"]));
    if (file === undefined) throw notFound();
    return file;
  }

  return [
    endpoint("post", "/files", {
      summary: "Upload a file, to name it in the input of a response",
      form: UploadForm,
      answer: FileObject,
      refusals: { 413: "The file is too large", 429: "Too many uploads at once" },
      handle: ({ user, context }) =>
        inSlot(user.id, async () => {
          await files.refuseFull(user.id, 1);
          const form = await readForm(context).catch((error: { readonly status?: unknown }) => {
            throw error.status === 413 ? tooLarge(maxFileBytes) : error;
          });
          return shown(await add(user, form));
        }),
    }),
    endpoint("get", "/files", {
      summary: "List your files",
      query: FileQuery,
      answer: listOf(FileObject),
      async handle({ user, query: { limit: given = "10000", order = "desc", after, purpose } }) {
        const limit = Math.min(Number(given), MAX_FILES);
        const found = await files.list(user.id, { limit: limit + 1, order, after, purpose });
        return toPage(found.slice(0, limit).map(shown), found.length > limit);
      },
    }),
    endpoint("get", "/files/{id}", {
      summary: "Get what is known of a file",
      answer: FileObject,
      refusals: MISSING,
      handle: async (asked) => shown(await find(asked)),
    }),
    endpoint("get", "/files/{id}/content", {
      summary: "Read a file",
      answer: "application/octet-stream",
      refusals: MISSING,
      async handle(asked) {
        const file = await find(asked);
        const { context } = asked;
        // It is never shown as a page of ours: a stranger may have written it.
        context.attachment(file.name);
        context.type = "application/octet-stream";
        context.length = file.bytes;
        return Readable.from(files.content(file));
      },
    }),
    endpoint("delete", "/files/{id}", {
      summary: "Delete a file",
      answer: DeletedFile,
      refusals: { ...MISSING, 403: OTHERS },
      async handle(asked) {
        const file = await find(asked);
        refuseOthers(asked.user, file);
        const { user, id } = file;
        if (!(await files.remove(user, id))) throw notFound();
        return { id, object: "file", deleted: true } as const;
      },
    }),
  ];
}

const shown = ({ id, bytes, createdAt, expiresAt, name, purpose }: StoredFile): FileObject => ({
  id,
  object: "file",
  bytes,
  created_at: inSeconds(createdAt),
  expires_at: expiresAt === null ? undefined : inSeconds(expiresAt),
  filename: name,
  purpose,
  status: "processed",
});

function lifetime(secs: number): number {
  if (secs >= MIN_LIFETIME_SECS && secs <= MAX_LIFETIME_SECS) return secs;
  const param = "expires_after[seconds]";
  throw invalid(param, "invalid_expires_after", `"${param}" must be from 3600 to 2592000.`);
}

const tooManyUploads = () =>
  new Fault(
    "limited",
    "too_many_uploads",
    `You are uploading ${MAX_UPLOADS_AT_ONCE} files already: wait until one has arrived.`,
  );

const tooLarge = (bytes: number) =>
  invalid(
    "file",
    "file_too_large",
    `A file may have at most ${bytes / (1024 * 1024)} MiB (RESPONSES_FILE_MB).`,
  );

const notFound = () =>
  new Fault("missing", "file_not_found", "You have no file with this id.", { param: "file_id" });
