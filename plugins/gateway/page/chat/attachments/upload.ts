/** One file on its way to the gateway. `fetch` does not tell how far it is, so this is the older way to ask. */
import { ask, Refused, type Upload } from "../../state/wire.ts";

export interface Limits {
  readonly file_bytes: number;
  readonly files: number;
}

let limits: Promise<Limits> | undefined;

export function readLimits(): Promise<Limits> {
  limits ??= ask<Limits>("GET", "/api/attachments").catch((error: unknown) => {
    limits = undefined;
    throw error;
  });
  return limits;
}

export interface Uploading {
  readonly done: Promise<Upload>;
  cancel(): void;
}

export function startUpload(file: File, onProgress: (share: number) => void): Uploading {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.set("file", file);
  const done = new Promise<Upload>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Upload);
      else reject(new Refused(request.status, wordsOf(request.responseText)));
    };
    request.onerror = () => reject(new Refused(0, "The upload was interrupted. Remove it and try again."));
    request.onabort = () => reject(new Refused(0, "Cancelled."));
  });
  request.open("POST", "/api/attachments");
  request.send(form);
  return { done, cancel: () => request.abort() };
}

function wordsOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 300) || "It could not be uploaded.";
  }
}
