/** Files of messages: uploaded first, then named by a message, and later read by the user who sent them. */
import { sniffImage } from "../../../kernel/kit/files.ts";
import {
  createFormReader,
  type FormReader,
  invalidFault,
  missingFault,
  type Route,
  routesOf,
} from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Upload } from "../../../kernel/kit/tools.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { AttachmentLimits } from "./wire.ts";

const route = routesOf("chat");

// The rest of a form beside its file.
const FORM_BYTES = 64 * 1024;

/** Whatever a browser takes a file for, it can neither run a script nor load anything. */
const POLICY = "default-src 'none'; sandbox";

export function attachmentRoutes({ attachments }: Pick<Services, "attachments">): readonly Route[] {
  const { fileBytes, files, messageBytes } = attachments.limits;
  const [each, together] = [fileBytes, messageBytes].map((bytes) => `${Math.round(bytes / 1_000_000)} MB`);

  return [
    route("GET /api/attachments", {
      summary: "Get how much may be attached to a message",
      answer: AttachmentLimits,
      scoped: true,
      handle: () => ({ ...attachments.limits }),
    }),
    route("POST /api/attachments", {
      summary: `Upload a file for a message: an image, a document or a text of at most ${each}. A message may name ${files} of them with ${together} together; those that none names are deleted after a day`,
      form: Type.Object({ file: Type.String({ format: "binary" }) }),
      readForm: formReader(
        fileBytes,
        `The file is too large: a file may have at most ${each} here (ATTACHMENTS_MAX_MB).`,
      ),
      status: 201,
      answer: Upload,
      scoped: true,
      refusals: { 413: "The file is too large", 429: "Too many documents are being read" },
      async handle({ user, form }) {
        const file = form.file("file");
        if (file === undefined)
          throw invalidFault("missing_file", 'The form has no file in its field "file".', "file");
        return await attachments.add(user.id, { name: file.name, data: file.bytes });
      },
    }),
    route("GET /api/attachments/{id}", {
      summary:
        "Get what came with a message or a tool's result, or an upload, by its id; only images are shown as what they are",
      answer: "*/*",
      refusals: { 404: "There is no such attachment" },
      scoped: true,
      async handle({ user, params, context }) {
        const found = await attachments.read(user.id, params.id);
        if (!found) throw notFound();
        const image = sniffImage(found.data);
        context.type = image ?? "application/octet-stream";
        if (image === undefined) context.attachment(found.name);
        context.set("Content-Security-Policy", POLICY);
        context.set("X-Content-Type-Options", "nosniff");
        // The file of an id never changes.
        context.set("Cache-Control", "private, max-age=3600, immutable");
        return Buffer.from(found.data);
      },
    }),
    route("DELETE /api/attachments/{id}", {
      summary: "Delete an upload that no message has come with; the others go with their thread",
      status: 204,
      scoped: true,
      refusals: { 404: "There is no such upload" },
      async handle({ user, params }) {
        if (!(await attachments.remove(user.id, params.id))) throw notFound();
      },
    }),
  ];
}

/** Names the size limit of files if the form is too large to be read. */
function formReader(fileBytes: number, words: string): FormReader {
  const read = createFormReader(fileBytes + FORM_BYTES);
  return async (context) => {
    try {
      return await read(context);
    } catch (error) {
      if ((error as { readonly status?: unknown }).status !== 413) throw error;
      throw invalidFault("file_too_large", words, "file");
    }
  };
}

const notFound = () => missingFault("attachment_not_found", "There is no such attachment.", "id");
