import { afterEach, expect, test } from 'vitest';
import { accountLimits, LIMITS } from '@headwater/shared';
import { fetchComponent } from '../../../engine/src/components/fetch-component.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { startReceiver } from '../../support/receiver.ts';

/* Redirects on the way to a component's code are checked like its own URL. */

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/**
 * A server on this machine, which is known as code.test as well, and what fetches components from
 * it.
 */
async function world() {
  const receiver = await startReceiver();
  const guest = createGuestFetch({
    egress: createEgress({
      allow: ['127.0.0.0/8'],
      deniedPorts: () => [],
      resolver: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    }),
  });
  stops.push(guest.stop, receiver.stop);
  const named = receiver.url.replace('127.0.0.1', 'code.test');
  const lead = (to: string) => receiver.script({ status: 302, headers: { location: to } });
  const fetchCode: Parameters<typeof fetchComponent>[0] = (request, signal) =>
    guest.fetch({ id: 'o_1', limits: accountLimits() }, request, signal);
  const take = (url: string) => fetchComponent(fetchCode, () => Promise.resolve([]), url);
  return { receiver, named, lead, take };
}

test('a redirect through a URL without https is not followed, for each target', async () => {
  const { receiver, named, lead, take } = await world();
  const { url, requests } = receiver;
  lead(`${named}/between.mjs`);
  lead(`${url}/code.mjs`);
  await expect(take(`${url}/first.mjs`)).rejects.toThrow('Must be an https URL');
  expect(requests.map((request) => request.url)).toEqual(['/first.mjs']);
});

test('redirects on this machine are followed, and the file has the name of where they led', async () => {
  const { receiver, lead, take } = await world();
  const { url, script } = receiver;
  lead('/between.mjs');
  lead(`${url}/code.mjs`);
  script({ body: 'export default 1;' });
  expect(await take(`${url}/first.mjs`)).toEqual({ entry: 'code.mjs', files: { 'code.mjs': 'export default 1;' } });
});

test('redirects end somewhere, and the error names the limit', async () => {
  const { receiver, take } = await world();
  receiver.answer = { status: 302, headers: { location: '/' } };
  const { maxFetchRedirects: value } = LIMITS;
  const limit = { name: 'maxFetchRedirects', value, used: value + 1 };
  await expect(take(receiver.url)).rejects.toMatchObject({ limit });
});

test('a redirect to a host that is longer than any name is refused, and the error names the limit', async () => {
  const { receiver, take } = await world();
  const { maxUrlHostChars: value } = LIMITS;
  receiver.answer = { status: 302, headers: { location: `//${'a'.repeat(value + 1)}/` } };
  await expect(take(receiver.url)).rejects.toMatchObject({
    limit: { name: 'maxUrlHostChars', value, used: value + 1 },
  });
});
