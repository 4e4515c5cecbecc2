import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { type AccountLimits, accountLimits } from '@headwater/shared';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { recordingHost } from '../../support/run-host.ts';
import { sandboxForFile, withRun } from '../../support/sandbox-kit.ts';
import { serveRequests } from '../../support/serve-requests.ts';

/* A run's traffic counts exactly once, for any outcome of its requests. */

const sandbox = sandboxForFile();
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function serve(listener: RequestListener): Promise<string> {
  const { url, stop } = await serveRequests(listener);
  stops.push(stop);
  return url;
}

/** Runs code with `url`, a server's, on the way out that runs have. */
async function run(account: Partial<AccountLimits>, listener: RequestListener, body: string) {
  const url = await serve(listener);
  const guest = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] }) });
  stops.push(guest.stop);
  const tenant = { id: 'o_1', limits: accountLimits(account) };
  const host = recordingHost();
  host.fetch = (request, signal) => guest.fetch(tenant, request, signal);
  return sandbox.run(withRun(body, `const url = '${url}';`), { account, host });
}

/** Sequential requests with the given body and end, until one exceeds a limit of the run. */
const repeatedly = (request = 'fetch(url)') =>
  `for (let i = 0; i < 20; i++) await (${request}).catch((e) => { if (e.limit?.name.endsWith('PerRun')) throw e; });`;

const BYTES = 2_000;
const TEXT = 'x'.repeat(BYTES);
const value = 5 * BYTES;
/** Leaves before it is heard to the end. */
const LEAVE = 'fetch(url, { signal: AbortSignal.timeout(50) })';

test.each<[string, Partial<AccountLimits>, RequestListener, string?]>([
  ['are too large', { maxFetchResponseBytes: 1_024 }, (_, response) => response.end(TEXT)],
  ['come too late', { fetchTimeoutMs: 50 }, (_, response) => response.write(TEXT)],
  ['are left by the run', {}, (_, response) => response.write(TEXT), LEAVE],
  [
    'break off',
    {},
    (_, response) => void response.writeHead(200, { 'content-length': 9_999 }).write(TEXT, () => response.destroy()),
  ],
  ['are not what they say', {}, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(TEXT)],
  [
    'become too large',
    { maxFetchResponseBytes: 1_024 },
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
  ],
  ['lead elsewhere', {}, (_, response) => response.writeHead(302, { location: '/' }).end(TEXT)],
])('bodies of answers that %s count for the run', async (_, account, listener, request) => {
  const { outcome } = await run({ maxDownloadBytesPerRun: value, ...account }, listener, repeatedly(request));
  const limit = { name: 'maxDownloadBytesPerRun', value };
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
  const used = outcome.ok ? 0 : (outcome.fault.limit?.used ?? 0);
  expect([used > value, used <= value + BYTES]).toEqual([true, true]);
});

test.each<[string, RequestListener]>([
  ['as it comes', (_, response) => response.end(TEXT)],
  ['in a coding', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT))],
])('the body of an answer %s counts once', async (_, listener) => {
  const account = { maxDownloadBytesPerRun: value };
  const body = `for (let i = 0; i < 6; i++) this.$emit((await (await fetch(url)).text()).length)`;
  const { outcome, host } = await run(account, listener, body);
  expect(host.data()).toEqual(Array(5).fill(BYTES));
  const limit = { name: 'maxDownloadBytesPerRun', value };
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
});

test.each([307, 308])(
  'a body that a redirect with %i has sent again counts again, before it leaves',
  async (status) => {
    const heard: number[] = [];
    const { outcome } = await run(
      { maxUploadBytesPerRun: value },
      (request, response) => {
        let bytes = 0;
        request.on('data', (piece: Buffer) => (bytes += piece.length));
        request.on('end', () => {
          heard.push(bytes);
          response.writeHead(status, { location: '/' }).end();
        });
      },
      repeatedly(`fetch(url, { method: 'POST', body: 'x'.repeat(4000) })`),
    );
    const limit = { name: 'maxUploadBytesPerRun', value, used: 12_000 };
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
    expect(heard).toEqual([4_000, 4_000]);
  },
);

test('a redirect is a request of the run, and one too many ends the run and not its process', async () => {
  let requests = 0;
  const redirectOnce: RequestListener = ({ url }, response) => {
    requests++;
    response.writeHead(url === '/' ? 302 : 200, { location: '/end' }).end();
  };
  const { outcome } = await run({ maxFetchesPerRun: 5 }, redirectOnce, repeatedly());
  const limit = { name: 'maxFetchesPerRun', value: 5, used: 6 };
  expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'RESOURCE_LIMIT', limit } });
  expect(requests).toBe(5);
});

test('a run that catches the error of a limit can make no more requests', async () => {
  const { outcome, host } = await run(
    { maxDownloadBytesPerRun: value },
    (_, response) => response.end(TEXT),
    `for (let i = 0; i < 8; i++) this.$emit(await fetch(url).then(() => 'answered', (e) => e.limit.name))`,
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([...Array(5).fill('answered'), ...Array(3).fill('maxDownloadBytesPerRun')]);
});
