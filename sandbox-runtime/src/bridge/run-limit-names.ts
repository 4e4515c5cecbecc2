import { ACCOUNT_LIMITS, type ExceededLimit, type LIMITS } from '@headwater/shared';

const OF_PLATFORM = [
  'maxFetchBytesPerTenant',
  'maxFetchHeaders',
  'maxFetchHeaderBytes',
  'maxFetchUrlChars',
  'maxUrlHostChars',
  'maxFetchResponseHeaderBytes',
  'connectTimeoutMs',
  'maxFetchRedirects',
  'maxFetchFramingBytes',
  'maxNameAddresses',
  'maxSystemLookupsWaiting',
  'maxCallsPerTurn',
  'maxOpenCalls',
  'maxOpenCallBytes',
  'maxFetchMethodChars',
  'maxHeaderNameChars',
  'maxHeadChars',
  'maxEventIdChars',
  'maxChannelChars',
  'maxExportNameChars',
  'maxDbKeyBytes',
  'maxDataStoreKeyBytes',
  'maxPropOptionsBytes',
  'maxDynamicPropsBytes',
  'maxProcessedBytes',
  'maxInflatedBytes',
  'maxCfb1StreamBytes',
  'maxCfb8StreamBytes',
  'maxPropDepth',
  'maxPropDefinitionValues',
] as const satisfies readonly (keyof typeof LIMITS)[];

/**
 * Whether a run can say that it ended by this limit. Those of its process and of its workflow are
 * said from outside.
 */
export function isRunLimit(name: unknown): name is ExceededLimit['name'] {
  if (typeof name !== 'string') return false;
  return Object.hasOwn(ACCOUNT_LIMITS, name) || OF_PLATFORM.some((one) => one === name);
}
