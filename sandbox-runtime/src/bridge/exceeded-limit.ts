import type { ErrorCode, ExceededLimit } from '@headwater/shared';

type LimitCode = Extract<ErrorCode, 'CPU_LIMIT' | 'WALL_LIMIT' | 'MEMORY_LIMIT' | 'OUTPUT_LIMIT' | 'RESOURCE_LIMIT'>;

interface Wording {
  /** `#` stands for how much was used, with its unit. */
  text: string;
  unit: '' | ' MB' | ' ms' | ' bytes' | ' characters';
  code: LimitCode;
}

function wording(code: LimitCode, text: string, unit: Wording['unit'] = ''): Wording {
  return { text, unit, code };
}

const TOOK_LONG = wording('WALL_LIMIT', 'The run took #', ' ms');

/** Error code and message for each limit that a run can exceed. */
const WORDINGS: { readonly [Name in ExceededLimit['name']]?: Wording } = {
  sandboxMemoryMb: wording('MEMORY_LIMIT', 'The sandbox process used # of memory', ' MB'),
  memoryMb: wording('MEMORY_LIMIT', 'The component used # of memory', ' MB'),
  runCpuMs: wording('CPU_LIMIT', 'The run used # of CPU time', ' ms'),
  httpRunWallMs: TOOK_LONG,
  timerRunWallMs: TOOK_LONG,
  hookWallMs: TOOK_LONG,
  executionWallMs: wording('WALL_LIMIT', 'The execution took #', ' ms'),
  maxEventBytes: wording('OUTPUT_LIMIT', 'The event given to $emit has # of JSON', ' bytes'),
  maxRunOutputBytes: wording('OUTPUT_LIMIT', 'The run put out # of events, logs, answers and stored values', ' bytes'),
  maxResultBytes: wording('OUTPUT_LIMIT', 'The result of the step has # of JSON', ' bytes'),
  maxExportBytes: wording('OUTPUT_LIMIT', 'A value given to $.export has # of JSON', ' bytes'),
  maxEventIdChars: wording('RESOURCE_LIMIT', 'The id of an event has #', ' characters'),
  maxChannelChars: wording('RESOURCE_LIMIT', 'The name of a channel has #', ' characters'),
  maxExportNameChars: wording('RESOURCE_LIMIT', 'The name of an export has #', ' characters'),
  maxOutlineChars: wording('OUTPUT_LIMIT', 'The description of the component has # as JSON', ' characters'),
  maxOutlineValues: wording('OUTPUT_LIMIT', 'The description of the component or its props has # values'),
  maxOutlineLists: wording('OUTPUT_LIMIT', 'The description of the component or its props has # lists and objects'),
  maxOutlineNames: wording('OUTPUT_LIMIT', 'The description of the component or its props has # names of members'),
  maxPropDepth: wording('OUTPUT_LIMIT', 'The definition of a prop is nested too deeply, # levels'),
  maxPropDefinitionValues: wording('OUTPUT_LIMIT', 'The definitions of the props have # values'),
  maxPropOptionsDepth: wording('OUTPUT_LIMIT', 'The options of a prop are nested too deeply, # levels'),
  maxPropOptionsBytes: wording('OUTPUT_LIMIT', 'The options of a prop have # of JSON', ' bytes'),
  maxDynamicPropsBytes: wording('OUTPUT_LIMIT', 'The answer of additionalProps has # of JSON', ' bytes'),
  maxEmitsPerRun: wording('OUTPUT_LIMIT', 'The run emitted # events'),
  maxSendsPerRun: wording('OUTPUT_LIMIT', 'The step made # calls of $.send'),
  maxCallsPerTurn: wording('RESOURCE_LIMIT', 'The run made # calls to the platform without a pause'),
  maxOpenCalls: wording('RESOURCE_LIMIT', 'The component has # calls of crypto.subtle or data stores open'),
  maxOpenCallBytes: wording('RESOURCE_LIMIT', 'Open calls of crypto.subtle or data stores hold #', ' bytes'),
  maxProcessedBytes: wording('RESOURCE_LIMIT', 'One call of crypto, zlib or a decoder was given #', ' bytes'),
  maxInflatedBytes: wording('RESOURCE_LIMIT', 'The output of zlib has #', ' bytes'),
  maxCfb1StreamBytes: wording('RESOURCE_LIMIT', 'A stream of a cipher in CFB1 mode has #', ' bytes'),
  maxCfb8StreamBytes: wording('RESOURCE_LIMIT', 'A stream of a cipher in CFB8 mode has #', ' bytes'),
  maxQueuedRunsPerTenant: wording('RESOURCE_LIMIT', 'Too many runs of this account wait for the sandbox: #'),
  maxAloneWaitMs: wording('RESOURCE_LIMIT', 'The run is to be alone, and waited for a sandbox process for #', ' ms'),
  maxLoadWaitMs: wording('RESOURCE_LIMIT', 'The component waited to be loaded for #', ' ms'),
  maxTimersPerRun: wording('RESOURCE_LIMIT', 'The run has # timers open'),
  maxFetchesInFlightPerRun: wording('RESOURCE_LIMIT', 'The run has # requests open'),
  maxFetchesPerRun: wording('RESOURCE_LIMIT', 'The run made # requests'),
  maxFetchRequestBytes: wording('RESOURCE_LIMIT', 'The body of a request has #', ' bytes'),
  maxFetchResponseBytes: wording('RESOURCE_LIMIT', 'The body of an answer to a request has #', ' bytes'),
  maxUploadBytesPerRun: wording('RESOURCE_LIMIT', 'The run sent # in bodies of requests', ' bytes'),
  maxDownloadBytesPerRun: wording('RESOURCE_LIMIT', 'The run received # in answers to its requests', ' bytes'),
  maxConnections: wording('RESOURCE_LIMIT', 'The runs of the account asked for # connections at the same time'),
  maxFetchesPerSecond: wording('RESOURCE_LIMIT', 'The runs of the account asked for # requests in one second'),
  maxFetchBytesPerTenant: wording('RESOURCE_LIMIT', 'Requests of the account and their answers hold #', ' bytes'),
  maxFetchHeaders: wording('RESOURCE_LIMIT', 'A request or an answer of the run has # headers'),
  maxFetchHeaderBytes: wording('RESOURCE_LIMIT', 'The headers of a request or an answer of the run have #', ' bytes'),
  maxFetchUrlChars: wording('RESOURCE_LIMIT', 'The URL of a request has #', ' characters'),
  maxUrlHostChars: wording('RESOURCE_LIMIT', 'The host in the URL of a request has #', ' characters'),
  maxFetchResponseHeaderBytes: wording('RESOURCE_LIMIT', 'The headers of an answer have #', ' bytes'),
  connectTimeoutMs: wording('RESOURCE_LIMIT', 'Connecting to the host of a request took #', ' ms'),
  maxFetchRedirects: wording('RESOURCE_LIMIT', 'A request was redirected # times'),
  maxFetchFramingBytes: wording('RESOURCE_LIMIT', 'An answer came with # that are not its body', ' bytes'),
  maxNameAddresses: wording('RESOURCE_LIMIT', 'The host of a request has # addresses'),
  maxSystemLookupsWaiting: wording('RESOURCE_LIMIT', '# names of hosts wait to be looked up'),
  maxFetchMethodChars: wording('RESOURCE_LIMIT', 'The method of a request has #', ' characters'),
  maxHeaderNameChars: wording('RESOURCE_LIMIT', 'The name of a header has #', ' characters'),
  maxHeadChars: wording(
    'RESOURCE_LIMIT',
    'The URL and headers of a request or an answer have # as JSON',
    ' characters',
  ),
  fetchTimeoutMs: wording('RESOURCE_LIMIT', 'A request took #', ' ms'),
  maxRunAuthBytes: wording('RESOURCE_LIMIT', 'The app props of the run get # of their accounts', ' bytes'),
  maxTmpBytes: wording('RESOURCE_LIMIT', 'The run keeps # below /tmp', ' bytes'),
  maxTmpEntries: wording('RESOURCE_LIMIT', 'The run keeps # files and directories below /tmp'),
  maxDbKeyBytes: wording('RESOURCE_LIMIT', 'A key of $.service.db has #', ' bytes'),
  maxDataStoreKeyBytes: wording('RESOURCE_LIMIT', 'A key of a data store has #', ' bytes'),
  maxDbValueBytes: wording('RESOURCE_LIMIT', 'A value for $.service.db has # of JSON', ' bytes'),
  maxDbBytes: wording('RESOURCE_LIMIT', 'The keys and values of $.service.db have #', ' bytes'),
  maxAllDbBytes: wording('RESOURCE_LIMIT', 'The keys and values of all $.service.db of the account have #', ' bytes'),
  maxEventHops: wording('RESOURCE_LIMIT', 'The run emitted the event # of a chain of sources that hear each other'),
  maxDbReadsPerRun: wording('RESOURCE_LIMIT', 'The run read # values of $.service.db'),
  maxDataStoreCallsPerRun: wording('RESOURCE_LIMIT', 'The run made # calls on data stores'),
  maxDataStoreValueBytes: wording('RESOURCE_LIMIT', 'A value for a data store has # of JSON', ' bytes'),
  maxDataStoreRecords: wording('RESOURCE_LIMIT', 'The data store would have # records'),
  maxDataStoreBytes: wording('RESOURCE_LIMIT', 'The keys and values of the data store would have #', ' bytes'),
};

const OTHER = wording('RESOURCE_LIMIT', '# were used or asked for');

/** Error of a run that exceeded a limit. */
export interface LimitFault {
  code: LimitCode;
  message: string;
  limit: ExceededLimit;
}

export function limitFault(limit: ExceededLimit): LimitFault {
  return { code: (WORDINGS[limit.name] ?? OTHER).code, message: describeLimit(limit), limit };
}

/**
 * `The run used 10 012 ms of CPU time; the limit runCpuMs is 10 000 ms`: the same words wherever a
 * limit is met. `name` is for a limit of the platform that stands in for the account's.
 */
export function describeLimit(limit: ExceededLimit, name: string = limit.name): string {
  const { text, unit } = WORDINGS[limit.name] ?? OTHER;
  return `${text.replace('#', () => group(limit.used) + unit)}; the limit ${name} is ${group(limit.value)}${unit}`;
}

/** Digits in threes: `10 012`. */
function group(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
}
