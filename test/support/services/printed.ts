/** What runs in this process and writes to standard output, as a command does. */
import { vi } from "vitest";

/** Answers what was printed until the work ended. */
export async function printedBy(work: () => Promise<unknown>): Promise<string> {
  let printed = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  try {
    await work();
  } finally {
    write.mockRestore();
  }
  return printed;
}
