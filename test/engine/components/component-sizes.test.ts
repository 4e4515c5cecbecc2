import { gzipSync } from 'node:zlib';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { FetchOutcome, MissingFile } from '@headwater/sandbox-runtime';
import { type AccountLimits, accountLimits, HeadwaterError, LIMITS } from '@headwater/shared';
import { fetchComponent } from '../../../engine/src/components/fetch-component.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { fetchCode } from '../../../engine/src/composition/parts-from-options.ts';

/* A download from `component_url` stops at the maximum size of code. */

const MAX = LIMITS.maxComponentCodeBytes;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

interface Served {
  status?: number;
  body: string | Buffer;
  gzip?: boolean;
}

/**
 * Fetches `/main.mjs` of a server with `pages`; `read` has the bytes of each answer that was taken,
 * `asked` how often its imports were.
 */
async function world(pages: Record<string, Served>, limits: Partial<AccountLimits> = {}) {
  const server = createServer(({ url = '' }, response) => {
    const { status = 200, body, gzip = false } = pages[url.slice(1)] ?? { status: 404, body: 'nothing here' };
    response.writeHead(status, gzip ? { 'content-encoding': 'gzip' } : {});
    response.end(gzip ? gzipSync(body) : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const guest = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] }) });
  stops.push(() => server.close(), guest.stop);
  const read: number[] = [];
  let asked = 0;
  const ofAccount = accountLimits(limits);
  const fetchAs = fetchCode(guest, { get: () => Promise.resolve(ofAccount) });
  async function fetchOne(...args: Parameters<Parameters<typeof fetchComponent>[0]>): Promise<FetchOutcome> {
    const outcome = await fetchAs({ accountId: 'o_1', userId: 'u_1' }, ...args);
    if (outcome.ok) read.push(outcome.body.byteLength);
    return outcome;
  }
  async function listMissing({ files }: { files: Readonly<Record<string, string>> }): Promise<MissingFile[]> {
    asked++;
    const others = ['one.mjs', 'two.mjs'].filter((name) => files['main.mjs']?.includes(name) && !(name in files));
    return others.map((name) => ({ path: `../${name}`, importer: 'main.mjs', candidates: [`${name}.none`, name] }));
  }
  const { port } = server.address() as AddressInfo;
  const answer = await fetchComponent(fetchOne, listMissing, `http://127.0.0.1:${port}/main.mjs`).catch(
    (error: unknown) => error,
  );
  return { answer, read, asked };
}

const limitOf = ({ answer }: { answer: unknown }) => (answer instanceof HeadwaterError ? answer.limit : answer);
const codeLimit = { name: 'maxComponentCodeBytes', value: MAX, used: expect.any(Number) };

test.each([
  ['as it is', false],
  ['compressed to a hundredth', true],
])('a file larger than code may be is neither read to its end nor looked at: %s', async (_name, gzip) => {
  const found = await world({ 'main.mjs': { body: Buffer.alloc(12 * MAX - 10, 'a;'), gzip } });
  expect(found).toMatchObject({ read: [], asked: 0, answer: { code: 'INVALID_REQUEST' } });
  expect(limitOf(found)).toEqual(codeLimit);
  expect((limitOf(found) as { used: number }).used).toBeGreaterThan(MAX);
});

test('bytes that are not UTF-8 count as the characters that replace them', async () => {
  const found = await world({ 'main.mjs': { body: Buffer.alloc(MAX, 0xff) } });
  expect(limitOf(found)).toEqual({ ...codeLimit, used: 3 * MAX });
  expect(found.asked).toBe(0);
});

test('code may be as large as it may, and all of its files together no larger', async () => {
  const main = "import './one.mjs'; import './two.mjs';";
  const one = 'x'.repeat(MAX - main.length - 4);
  const whole = await world({ 'main.mjs': { body: main }, 'one.mjs': { body: one }, 'two.mjs': { body: 'last' } });
  expect(whole.answer).toMatchObject({ entry: 'main.mjs', files: { 'two.mjs': 'last' } });
  const over = await world({ 'main.mjs': { body: main }, 'one.mjs': { body: one }, 'two.mjs': { body: 'more!' } });
  expect(limitOf(over)).toEqual({ ...codeLimit, used: MAX + 1 });
  const large = { body: Buffer.alloc(4 * MAX), gzip: true };
  const tooLarge = await world({ 'main.mjs': { body: main }, 'one.mjs': large, 'two.mjs': { body: '' } });
  expect(limitOf(tooLarge)).toEqual(codeLimit);
  expect(tooLarge.asked).toBe(1);
});

test('a page that says there is no such file may be larger than what is left', async () => {
  const main = `import './one.mjs';//${'x'.repeat(MAX - 100)}`;
  const page = { status: 404, body: 'x'.repeat(1_000) };
  const found = await world({ 'main.mjs': { body: main }, 'one.mjs.none': page, 'one.mjs': { body: 'small' } });
  expect(found.answer).toMatchObject({ files: { 'one.mjs': 'small' } });
});

test('an account that may fetch less is told its own limit', async () => {
  const found = await world({ 'main.mjs': { body: 'x'.repeat(9_000) } }, { maxFetchResponseBytes: 8_192 });
  expect(limitOf(found)).toEqual({ name: 'maxFetchResponseBytes', value: 8_192, used: expect.any(Number) });
});
