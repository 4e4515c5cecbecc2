import type { FetchOutcome, FetchRequest, FlowAction, RunHost, SendCall } from '@headwater/sandbox-runtime';
import type { HttpResponse, LogLine } from '@headwater/shared';
import { storableText, storeLines } from '../../events/index.ts';
import type { LiveTry, RecordedProps, StoredSend } from '../../runs/index.ts';
import type { Redactor, Sealer } from '../../secrets/index.ts';
import { contentOf } from '../../outbox/index.ts';
import { joinProps } from './recorded-props.ts';

export interface StepOutputsOptions {
  fetch: (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  dataStore: RunHost['dataStore'];
  respond: (response: HttpResponse, immediate: boolean) => void;
  /** Those that have no expression. */
  staticProps: RecordedProps | undefined;
  /** As in RunOutputsOptions. */
  live?: LiveTry | undefined;
}

/** Output of a step as it may be stored: without secrets. */
export interface StepOutput {
  /** JSON text, as are the other two. */
  exports: string;
  value: string | undefined;
  logs: string;
  logCount: number;
  /** How many of its lines, from the first one on, were shown while it ran. */
  liveLines: number;
  sends: StoredSend[];
  /** Its props as it got them. */
  props: RecordedProps | undefined;
}

export interface StepOutputs {
  host: RunHost;
  flow(): FlowAction | undefined;
  /** Once, when the run has ended. */
  take(
    accountId: string,
    sealer: Pick<Sealer, 'seal'>,
    redactor: Redactor | undefined,
    value?: string,
  ): Promise<StepOutput>;
  /** Another try begins: of this one nothing is taken. */
  forget(): Promise<unknown>;
}

/** Collects the exports, sends and log lines of a step until its end. */
export function createStepOutputs(options: StepOutputsOptions): StepOutputs {
  const exports = new Map<string, string>();
  const logs: LogLine[] = [];
  const sends: SendCall[] = [];
  let action: FlowAction | undefined;
  let evaluated: RecordedProps | undefined;
  const host: RunHost = {
    emit: ({ data, name }) => void sends.push({ kind: 'emit', payload: emitPayload(data, name) }),
    log(line) {
      logs.push(line);
      options.live?.add(line);
    },
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
      props(json, cut) {
        evaluated = { json, cut };
      },
    },
  };
  return {
    host,
    flow: () => action,
    forget: async () => options.live?.end(),
    async take(accountId, sealer, redactor, value) {
      const clean = async (json: string) => storableText((await redactor?.jsonInTurns(json)) ?? json);
      const exported = `{${[...exports].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
      const stored: StoredSend[] = [];
      for (const { kind, payload } of sends) {
        const isOurs = kind === 'emit' || kind === 'sse';
        const content = isOurs
          ? { payload: await clean(payload) }
          : await contentOf(sealer, accountId, redactor, payload);
        stored.push({ kind, ...content });
      }
      const props = evaluated && {
        json: await clean(evaluated.json),
        cut: storableText(redactor?.text(evaluated.cut) ?? evaluated.cut),
      };
      return {
        props: joinProps(options.staticProps, props),
        exports: await clean(exported),
        value: value === undefined ? undefined : await clean(value),
        logs: await clean(await storeLines(logs)),
        logCount: logs.length,
        liveLines: (await options.live?.end()) ?? 0,
        sends: stored,
      };
    },
  };
}

function emitPayload(data: string, name: string | undefined): string {
  return `{"raw_event":${data}${name === undefined ? '' : `,"name":${JSON.stringify(name)}`}}`;
}
