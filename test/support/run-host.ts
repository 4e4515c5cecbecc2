import type { FetchOutcome, FetchRequest, RunHost } from '@headwater/sandbox-runtime';
import type { EmittedEvent, HttpResponse, LogLine } from '@headwater/shared';

/** A RunHost that keeps everything a run put out, in order. */
export interface RecordingHost extends RunHost {
  events: EmittedEvent[];
  logs: LogLine[];
  responses: HttpResponse[];
  writes: [key: string, valueJson: string][];
  requests: FetchRequest[];
  aborted: string[];
  stored: Map<string, string>;
  /** The parsed data of the events. */
  data(): unknown[];
  messages(): string[];
}

export interface HostParts {
  stored?: Record<string, unknown>;
  fetch?: (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  dataStore?: RunHost['dataStore'];
}

export function recordingHost(parts: HostParts = {}): RecordingHost {
  const stored = new Map(Object.entries(parts.stored ?? {}).map(([key, value]) => [key, JSON.stringify(value)]));
  const host: RecordingHost = {
    events: [],
    logs: [],
    responses: [],
    writes: [],
    requests: [],
    aborted: [],
    stored,
    data: () => host.events.map((event) => JSON.parse(event.data) as unknown),
    messages: () => host.logs.map((line) => line.message),
    emit: (event) => void host.events.push(event),
    log: (line) => void host.logs.push(line),
    respond: (response) => void host.responses.push(response),
    dbSet: (key, valueJson) => {
      host.writes.push([key, valueJson]);
      stored.set(key, valueJson);
    },
    dbGet: (key) => Promise.resolve(stored.get(key)),
    dataStore: (call, signal) =>
      parts.dataStore?.(call, signal) ?? Promise.resolve({ ok: false, message: 'no stores in this test' }),
    fetch: async ({ meter, ...request }, signal) => {
      host.requests.push(request);
      signal.addEventListener('abort', () => host.aborted.push(request.url));
      const outcome = (await parts.fetch?.(request, signal)) ?? { ok: false, message: 'no network in this test' };
      const limit = outcome.ok ? meter?.received(outcome.body.byteLength) : undefined;
      return limit === undefined ? outcome : { ok: false, message: 'The run received too much', limit };
    },
  };
  return host;
}

/** A text answer to any request. */
export function textAnswer(request: FetchRequest, text: string, status = 200): FetchOutcome {
  return {
    ok: true,
    status,
    statusText: 'OK',
    headers: [['content-type', 'text/plain']],
    url: request.url,
    redirected: false,
    body: new TextEncoder().encode(text),
  };
}
