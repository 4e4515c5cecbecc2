import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { App, HttpServer } from '../../api/src/index.ts';
import { testLog } from './logs.ts';
import { API_KEY, createRecordingEngine } from './recording-engine.ts';
import { type ServeOptions, serveEngine } from './serve-engine.ts';

export { ACCOUNT_ID } from './engine-records.ts';
export { API_KEY } from './recording-engine.ts';
export const ADMIN_KEY = `hw_admin_${'a'.repeat(32)}`;
export const MADE_AT_SECONDS = 1_795_176_000;

export type CallInit = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

export interface TestServer extends ReturnType<typeof createRecordingEngine> {
  url: string;
  port: number;
  server: HttpServer;
  app: App;
  /** A call with the key of the account; `init` overrides. */
  call(path: string, init?: CallInit): Promise<Response>;
}

/** Keeps log lines, for tests that promise one. */
export function createMemoryLog() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const keep = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** The whole HTTP side on a free loopback port. */
export async function startTestServer(
  options: Partial<Omit<ServeOptions, 'publicUrl' | 'port'>> = {},
): Promise<TestServer> {
  const recording = createRecordingEngine();
  const log = options.log ?? testLog;
  const { engine } = recording;
  const { app, server } = await serveEngine(engine, {
    adminKey: ADMIN_KEY,
    ...options,
    publicUrl: 'http://127.0.0.1',
    port: 0,
    log,
  });
  const url = `http://127.0.0.1:${server.port}`;
  const call = (path: string, init: CallInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${API_KEY}`, ...init.headers } });
  return { ...recording, url, port: server.port, server, app, call };
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * A request that fetch would not make: the path as it is, repeated headers, any method, a body in
 * chunks.
 */
export function rawRequest(
  port: number,
  options: { method?: string; path: string; headers?: Record<string, string | string[]>; body?: (string | Buffer)[] },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, body = [] } = options;
    // For GET and DELETE node would send the body without saying that there is one.
    const framing = body.length > 0 && options.headers?.['content-length'] === undefined;
    const headers = { ...options.headers, ...(framing ? { 'transfer-encoding': 'chunked' } : {}) };
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    for (const chunk of body) request.write(chunk);
    request.end();
  });
}

/** The problem document of an answer, after checking that it is one. */
export async function readProblem(response: Response): Promise<Record<string, unknown>> {
  if (response.headers.get('content-type') !== 'application/problem+json') throw new Error('not a problem document');
  const problem = (await response.json()) as Record<string, unknown>;
  const { status, error, detail, request_id: requestId } = problem;
  if (status !== response.status || error !== detail || requestId !== response.headers.get('x-request-id')) {
    throw new Error(`an inconsistent problem document: ${JSON.stringify(problem)}`);
  }
  return problem;
}

/** A POST with a JSON body. */
export function postJson(body: unknown): CallInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
