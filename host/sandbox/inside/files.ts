/** The files of one call, as its guest uses them. Only questions and answers: the process itself opens nothing. */
import {
  type FileErrorCode,
  type FileReply,
  type FileRequest,
  MAX_CALL_FILE_BYTES,
  MAX_FILE_BYTES,
  MAX_FILE_PART_BYTES,
  MAX_FILE_REQUESTS,
} from "../protocol.ts";

export type FileAnswer = Extract<FileReply, { readonly ok: true }>;

/** `payload` is what the glue hands to a guest of `postern:tool/files`. */
export class FileRefusal extends Error {
  readonly code: FileErrorCode;
  readonly payload: string;

  constructor(code: FileErrorCode, message: string) {
    super(message);
    this.code = code;
    this.payload = message;
  }
}

/** Bytes that were written and not sent yet. */
interface Held {
  readonly path: string;
  /** Undefined at the end of the file. */
  readonly offset: number | undefined;
  readonly pieces: Uint8Array[];
  bytes: number;
}

export class GuestFiles {
  readonly #send: (request: FileRequest) => Promise<FileReply>;
  readonly #held: Held[] = [];
  #heldBytes = 0;
  #requests = 0;
  #written = 0;
  readonly #unanswered = new Set<Promise<void>>();
  #failure: FileRefusal | undefined;

  constructor(send: (request: FileRequest) => Promise<FileReply>) {
    this.#send = send;
  }

  /** Rejects with a refusal, also with that of an earlier write which nobody waited for. */
  async ask(request: FileRequest): Promise<FileAnswer> {
    this.#sendHeld();
    const answer = await this.#ask(request);
    this.#throwFailure();
    return answer;
  }

  /** Writes a part of a file that is there, sooner or later, and before anything that is asked afterwards. Without an offset at its end. */
  write(path: string, offset: number | undefined, bytes: Uint8Array): void {
    this.#throwFailure();
    if ((offset ?? 0) + bytes.byteLength > MAX_FILE_BYTES)
      throw new FileRefusal("file-too-large", `a file may have ${MAX_FILE_BYTES / 1e6} MB`);
    if (this.#written + bytes.byteLength > MAX_CALL_FILE_BYTES)
      throw new FileRefusal("quota", `a call may write ${MAX_CALL_FILE_BYTES / 1e6} MB`);
    this.#written += bytes.byteLength;
    const last = this.#held.at(-1);
    const goesOn =
      last?.path === path && (offset === undefined ? undefined : offset - last.bytes) === last.offset;
    if (goesOn && last !== undefined) {
      last.pieces.push(bytes);
      last.bytes += bytes.byteLength;
    } else this.#held.push({ path, offset, pieces: [bytes], bytes: bytes.byteLength });
    this.#heldBytes += bytes.byteLength;
    if (this.#heldBytes >= MAX_FILE_PART_BYTES) this.#sendHeld();
  }

  /** Resolves when everything is written. */
  async settle(): Promise<void> {
    this.#sendHeld();
    while (this.#unanswered.size > 0) await Promise.all(this.#unanswered);
    this.#throwFailure();
  }

  async #ask(request: FileRequest): Promise<FileAnswer> {
    if (++this.#requests > MAX_FILE_REQUESTS)
      throw new FileRefusal("quota", `a call may ask for files at most ${MAX_FILE_REQUESTS} times`);
    const reply = await this.#send(request);
    if (!reply.ok) throw new FileRefusal(reply.code, reply.error);
    return reply;
  }

  #sendHeld(): void {
    for (const { path, offset, pieces } of this.#held) {
      const bytes = Buffer.concat(pieces);
      for (let at = 0; at < bytes.byteLength; at += MAX_FILE_PART_BYTES) {
        const body = bytes.subarray(at, at + MAX_FILE_PART_BYTES);
        const request: FileRequest =
          offset === undefined
            ? { op: "append", path, body }
            : { op: "patch", path, offset: offset + at, body };
        const answered = this.#ask(request)
          .then(
            () => {},
            (error: FileRefusal) => {
              this.#failure ??= error;
            },
          )
          .finally(() => this.#unanswered.delete(answered));
        this.#unanswered.add(answered);
      }
    }
    this.#held.length = 0;
    this.#heldBytes = 0;
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
