/** Figures as people read them. */
const count = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });

export const whole = (value: number): string => count.format(value);

/** A turn can cost less than a cent. */
export function dollars(value: number): string {
  const digits = value === 0 || value >= 1 ? 2 : 4;
  return `$${value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

export function seconds(millis: number): string {
  return millis < 1000
    ? `${whole(millis)} ms`
    : `${(millis / 1000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
}
