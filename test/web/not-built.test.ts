import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let headwater: Headwater;

beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

test('a server whose pages are not built says to a browser which command builds them', async () => {
  const answer = await fetch(`${headwater.url}/sources`, { headers: { accept: 'text/html' } });
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('npm run build:web')]);
});
