/** Amounts of bytes in words. */
const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function bytesInWords(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (Math.abs(amount) >= 1000 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${unit === 0 || Math.abs(amount) >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${UNITS[unit]}`;
}
