import { type AccountLimitName, type AccountLimits, LIMITS } from '@headwater/shared';

const OF_ACCOUNT = [
  'maxEventBytes',
  'maxRunOutputBytes',
  'maxResultBytes',
  'maxExportBytes',
  'maxEmitsPerRun',
  'maxSendsPerRun',
  'maxLogLinesPerRun',
  'maxLogLineBytes',
  'maxDbValueBytes',
  'maxDbReadsPerRun',
  'maxTimersPerRun',
  'maxFetchesInFlightPerRun',
  'maxFetchesPerRun',
  'maxFetchRequestBytes',
  'maxUploadBytesPerRun',
  'maxDownloadBytesPerRun',
  'maxTmpBytes',
  'maxTmpEntries',
  'maxDataStoreCallsPerRun',
  'maxDataStoreValueBytes',
] as const satisfies readonly AccountLimitName[];

const OF_PLATFORM = [
  'maxEventIdChars',
  'maxChannelChars',
  'maxSummaryChars',
  'maxDbKeyBytes',
  'maxExportNameChars',
  'recordedPropsChars',
  'maxStepWaitMs',
  'maxStepReruns',
  'dbEntryOverheadBytes',
  'maxFetchUrlChars',
  'maxFetchHeaders',
  'maxFetchHeaderBytes',
  'maxDataStoreKeyBytes',
  'maxDataStoreTtlSeconds',
  'maxPropOptionsBytes',
  'maxDynamicPropsBytes',
  'maxCallsPerTurn',
  'maxOpenCalls',
  'maxOpenCallBytes',
  'maxFetchMethodChars',
  'maxHeaderNameChars',
  'maxHeadChars',
  'maxOutlineChars',
  'maxPropDepth',
  'maxPropDefinitionValues',
] as const satisfies readonly (keyof typeof LIMITS)[];

/**
 * The limits that hold inside an isolate. Checked there for a clear error, and again outside of it
 * for safety.
 */
export type GuestLimits = Record<(typeof OF_ACCOUNT)[number] | (typeof OF_PLATFORM)[number], number>;

/** Picks them by name, so that a sandbox process is told no more than it needs. */
export function pickGuestLimits(account: AccountLimits): GuestLimits {
  const ofAccount = OF_ACCOUNT.map((name) => [name, account[name]]);
  const ofPlatform = OF_PLATFORM.map((name) => [name, LIMITS[name]]);
  return Object.fromEntries([...ofAccount, ...ofPlatform]) as GuestLimits;
}
