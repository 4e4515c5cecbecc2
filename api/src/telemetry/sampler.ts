import type { SamplerConfig } from './telemetry-config.ts';

const DIGITS = 13;
const ALL = 16 ** DIGITS;

/**
 * Whether a trace is recorded. All nodes decide the same: by the caller, or by the last digits of
 * the trace's id, which are random in ids that are made here, and in those that W3C asks for.
 */
export function createSampler({ isParentBased, ratio }: SamplerConfig) {
  return (traceId: string, parentSampled: boolean | undefined): boolean => {
    if (isParentBased && parentSampled !== undefined) return parentSampled;
    if (ratio >= 1) return true;
    return Number.parseInt(traceId.slice(-DIGITS), 16) < ratio * ALL;
  };
}
