import type { FetchOutcome, FetchRequest, FlowAction, RunHost, SendCall } from '@headwater/sandbox-runtime';
import type { HttpResponse, LogLine } from '@headwater/shared';
import { storableText } from '../../events/storable-text.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { contentOf } from '../../sends/new-send.ts';
import type { StoredSend } from './execution-rows.ts';

export interface StepOutputsOptions {
  fetch: (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  dataStore: RunHost['dataStore'];
  respond: (response: HttpResponse, immediate: boolean) => void;
}

/** What a step has put out, as it may be stored: without secrets. */
export interface StepOutput {
  /** JSON text, as are the other two. */
  exports: string;
  value: string | undefined;
  logs: string;
  logCount: number;
  sends: StoredSend[];
}

export interface StepOutputs {
  host: RunHost;
  flow(): FlowAction | undefined;
  take(accountId: string, sealer: Pick<Sealer, 'seal'>, redactor: Redactor | undefined, value?: string): StepOutput;
}

/** Collects what a step exports, sends and logs until its end. */
export function createStepOutputs(options: StepOutputsOptions): StepOutputs {
  const exports = new Map<string, string>();
  const logs: LogLine[] = [];
  const sends: SendCall[] = [];
  let action: FlowAction | undefined;
  const host: RunHost = {
    emit: ({ data, name }) => void sends.push({ kind: 'emit', payload: emitPayload(data, name) }),
    log: (line) => void logs.push(line),
    respond: (response) => options.respond(response, false),
    // Actions have no `$.service.db`.
    dbSet: () => undefined,
    dbGet: async () => undefined,
    fetch: options.fetch,
    dataStore: options.dataStore,
    step: {
      export: (name, valueJson) => void exports.set(name, valueJson),
      send: (call) => void sends.push(call),
      flow(asked) {
        action = asked;
      },
      respond: options.respond,
    },
  };
  return {
    host,
    flow: () => action,
    take(accountId, sealer, redactor, value) {
      const clean = (json: string) => storableText(redactor?.json(json) ?? json);
      const lines = logs.map(({ atMs, level, message }) => ({ at: atMs, level, message }));
      return {
        exports: clean(`{${[...exports].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`),
        value: value === undefined ? undefined : clean(value),
        logs: clean(JSON.stringify(lines)),
        logCount: logs.length,
        sends: sends.map(({ kind, payload }) => {
          const isOurs = kind === 'emit' || kind === 'sse';
          return { kind, ...(isOurs ? { payload: clean(payload) } : contentOf(sealer, accountId, redactor, payload)) };
        }),
      };
    },
  };
}

function emitPayload(data: string, name: string | undefined): string {
  return `{"raw_event":${data}${name === undefined ? '' : `,"name":${JSON.stringify(name)}`}}`;
}
