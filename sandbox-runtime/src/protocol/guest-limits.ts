import type { LIMITS } from '@headwater/shared';

/** The limits that hold inside an isolate. Checked there for a clear error, and again outside of it for safety. */
export type GuestLimits = Pick<
  { [Name in keyof typeof LIMITS]: number },
  | 'maxEventBytes'
  | 'maxRunOutputBytes'
  | 'maxEmitsPerRun'
  | 'maxLogLinesPerRun'
  | 'maxLogLineBytes'
  | 'maxEventIdChars'
  | 'maxChannelChars'
  | 'maxSummaryChars'
  | 'maxDbValueBytes'
  | 'maxDbKeyBytes'
  | 'maxDbReadsPerRun'
  | 'maxTimersPerRun'
  | 'maxFetchesInFlightPerRun'
  | 'maxFetchesPerRun'
  | 'maxFetchRequestBytes'
  | 'maxUrlChars'
  | 'maxTmpBytes'
  | 'maxTmpEntries'
>;

/** Picks them by name, so that a sandbox process is told no more than it needs. */
export function pickGuestLimits(limits: GuestLimits): GuestLimits {
  const { maxEventBytes, maxRunOutputBytes, maxEmitsPerRun, maxLogLinesPerRun, maxLogLineBytes } = limits;
  const { maxEventIdChars, maxChannelChars, maxSummaryChars, maxDbValueBytes, maxDbKeyBytes, maxDbReadsPerRun } =
    limits;
  const { maxTimersPerRun, maxFetchesInFlightPerRun, maxFetchesPerRun, maxFetchRequestBytes, maxUrlChars } = limits;
  const { maxTmpBytes, maxTmpEntries } = limits;
  return {
    maxEventBytes,
    maxRunOutputBytes,
    maxEmitsPerRun,
    maxLogLinesPerRun,
    maxLogLineBytes,
    maxEventIdChars,
    maxChannelChars,
    maxSummaryChars,
    maxDbValueBytes,
    maxDbKeyBytes,
    maxDbReadsPerRun,
    maxTimersPerRun,
    maxFetchesInFlightPerRun,
    maxFetchesPerRun,
    maxFetchRequestBytes,
    maxUrlChars,
    maxTmpBytes,
    maxTmpEntries,
  };
}
