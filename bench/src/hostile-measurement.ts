/** The target: a neighbour's p99 during an attack is at most this multiple of its normal p99. */
export const TARGET_RATIO = 2;

/** Effect of one attack on its neighbour. An attack of several tests is measured in each. */
export interface HostileMeasurement {
  /** As `cpu/sync-loop`. */
  attack: string;
  /** One; three where that was beyond the target, and five where the middle one of three was. */
  tries: readonly HostileTry[];
}

/** Milliseconds from a request to the receipt of its event, of each. */
export interface HostileTry {
  /** How often the attack was made to get enough samples. */
  rounds: number;
  quietMs: readonly number[];
  attackedMs: readonly number[];
}

export function ratioOf({ quietMs, attackedMs }: HostileTry): number {
  return percentile(attackedMs, 99) / percentile(quietMs, 99);
}

/** The try with the median ratio. */
export function middleTry({ tries }: HostileMeasurement): HostileTry {
  const sorted = tries.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  return sorted[Math.floor(sorted.length / 2)] as HostileTry;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1] ?? 0;
}
