import { dateTime } from "../language.ts";

/** The versions of a file or a memory, and how two of them differ. */
export const versions = {
  title: "Versions",
  version: (number: number | string) => `version ${number}`,
  versionAt: (number: number, at: string) => `Version ${number}, ${dateTime(at)}`,
  compare: "Compare",
  with: "with",
  show: "Show differences",
  fromTo: (from: number | string, to: number | string) => `From version ${from} to version ${to}`,
  same: (from: number | string, to: number | string) =>
    `Version ${from} and version ${to} have the same text.`,
  legend: (from: number | string, to: number | string) =>
    `From version ${from} to version ${to}: lines with − were removed, lines with + are new.`,
  now: "now",
  restore: "Restore",
  restoreOf: (number: number) => `Restore version ${number}`,
  restored: (number: number) => `Version ${number} is restored`,
  download: "Download",
  downloadOf: (number: number) => `Download version ${number}`,
  openThread: "Open the thread",
  from: (origins: string) => `, from ${origins}`,
};
