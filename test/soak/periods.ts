/** Epoch milliseconds. One that has not ended lasts to Infinity. */
export interface Period {
  fromMs: number;
  toMs: number;
}

export function overlaps(periods: readonly Period[], fromMs: number, toMs: number): boolean {
  return periods.some((period) => period.fromMs <= toMs && period.toMs >= fromMs);
}
