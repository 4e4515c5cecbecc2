import { execFile } from 'node:child_process';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { accountLimits } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { errorsOf } from '../../support/errors-of.ts';
import { recordingHost } from '../../support/run-host.ts';
import { sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const requests = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.1/32'], deniedPorts: () => [] }) });

let closing: Server;
let garbled: Server;
let closed: number;

beforeAll(async () => {
  closing = await listening(createServer((socket) => void socket.once('data', () => socket.destroy())));
  garbled = await listening(createServer((socket) => void socket.once('data', () => socket.end('no HTTP\r\n\r\n'))));
  const gone = await listening(createServer());
  closed = portOf(gone);
  gone.close();
});

afterAll(async () => {
  closing.close();
  garbled.close();
  await requests.stop();
});

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function host() {
  const tenant = { id: 'o_1', limits: accountLimits() };
  return recordingHost({ fetch: (request, signal) => requests.fetch(tenant, request, signal) });
}

/**
 * Members of an error that libraries read. The message of the cause is left out, because it is the
 * platform's own.
 */
const HOW = `const told = (error) => Object.assign(new Error([error.name, error.message, error.code, error.errno, error.syscall,
    error.hostname, error.address, error.port, error.cause && error.cause.code].join(' ')), { name: 'Told' });`;

function snippets(): string[] {
  const urls = [`http://127.0.0.1:${closed}/`, `http://nothing.invalid/`, `http://127.0.0.1:${portOf(closing)}/`];
  return urls.flatMap((url) => [
    `${HOW} await fetch('${url}').catch((error) => { throw told(error) })`,
    `${HOW} await called((done) => load('http').get('${url}').on('error', (error) => done(told(error))))`,
    `${HOW} await called((done) => load('https').get('${url}'.replace('http:', 'https:')).on('error', (error) => done(error.code === 'ECONNRESET' ? new Error('ECONNRESET') : told(error))))`,
  ]);
}

test('a host that cannot be reached is told with the names, messages and codes of Node', async () => {
  const code = `(${errorsOf.toString()})(${JSON.stringify(snippets())})`;
  const { outcome, host: ran } = await sandbox.run(withRun(`this.$emit(await (${code}))`), { host: host() });
  expect(outcome).toMatchObject({ ok: true });
  const script = `(async () => { process.stdout.write(JSON.stringify(await (${code}))) })()`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  expect(ran.data()).toEqual([JSON.parse(stdout)]);
});

test.each([
  ['a port that nobody listens at', () => `http://127.0.0.1:${closed}/`, 'ECONNREFUSED', /refused the connection/],
  ['an unknown name', () => 'http://nothing.invalid/', 'ENOTFOUND', /No public address was found for nothing\.invalid/],
  ['an address that is refused', () => 'http://127.0.0.2/', 'ECONNREFUSED', /127\.0\.0\.2 is not a public address/],
  ['a port that is refused', () => 'http://127.0.0.1:25/', 'ECONNREFUSED', /it is not an HTTP port/],
  ['a connection that is closed', () => `http://127.0.0.1:${portOf(closing)}/`, 'UND_ERR_SOCKET', /closed the conn/],
  [
    'an answer that is no HTTP',
    () => `http://127.0.0.1:${portOf(garbled)}/`,
    expect.stringMatching(/^HPE_/) as unknown,
    /not HTTP/,
  ],
])('fetch of %s fails as in Node, and its cause has a code and says why', async (_what, url, code, says) => {
  const { host: ran, outcome } = await sandbox.run(
    withRun(`try { await fetch('${url()}') } catch (error) {
      const { cause } = error;
      this.$emit([error.name, error.message, error instanceof TypeError, cause instanceof Error, cause.code, cause.message]);
      throw error;
    }`),
    { host: host() },
  );
  expect(ran.data()).toEqual([['TypeError', 'fetch failed', true, true, code, expect.stringMatching(says)]]);
  // The record of the run keeps why.
  expect(outcome).toMatchObject({ ok: false, fault: { message: expect.stringMatching(says) } });
});

test('a request that takes too long is a failed fetch, with the limit as its cause', async () => {
  const limit = { name: 'fetchTimeoutMs', value: 1_000, used: 1_001 } as const;
  const late = recordingHost({ fetch: () => Promise.resolve({ ok: false, message: 'late', limit }) });
  const { outcome } = await sandbox.run(
    withRun(`try { await fetch('http://a.example/') } catch (error) {
      this.$emit([error.message, error.cause.code, error.cause.name, error.limit]); throw error }`),
    { host: late },
  );
  expect(late.data()).toEqual([['fetch failed', 'UND_ERR_HEADERS_TIMEOUT', 'LimitError', limit]]);
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
});
