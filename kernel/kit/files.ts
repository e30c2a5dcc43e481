/** Folders that are ours alone, types of files, what documents say, and where our own files are. */

export { claimFolder } from "../files/claim.ts";
export {
  createDocumentReader,
  type DocumentKind,
  type DocumentReader,
  documentKind,
  type ReadDocument,
  textOfDocument,
} from "../files/document-reader.ts";
export { makeFolders } from "../files/folders.ts";
export { makePrivate } from "../files/ownership.ts";
export { MANIFEST, moduleFile, ROOT } from "../package.ts";
export {
  cleanFileName,
  imageProblem,
  isTextual,
  mimeOfName,
  sniff,
  sniffImage,
  UNKNOWN,
} from "../text/file-type.ts";
