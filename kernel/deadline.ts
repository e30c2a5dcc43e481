/** Waits for work with a time limit, and rejects with the given message when it runs out. */
export async function within<Result>(
  millis: number,
  tooLate: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(tooLate)), millis);
  });
  try {
    return await Promise.race([(async () => work())(), late]);
  } finally {
    clearTimeout(timer);
  }
}
