// egress: A name that has a public address when it is checked, and a private one at every later question.
import { expect, it } from 'vitest';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';

let asked = 0;
// Of the two, 127.0.0.1 alone is allowed.
const guard = guarded({ resolve: () => [asked++ % 2 === 0 ? '127.0.0.1' : '127.0.0.2'] });

it('is connected to the address that was checked, and checked again for the next connection', async () => {
  const { port } = new URL(guard.receiver.url);
  const seen: unknown[] = [];
  for (let i = 0; i < 6; i++) {
    // An origin of its own each time, so that each makes a connection.
    seen.push(await guard.unharmed(() => guard.fetch(`http://rebind-${i}.test:${port}/${i}`)));
    expect(asked).toBe(i + 1);
  }
  for (const [i, outcome] of seen.entries()) {
    const refused = { ok: false, message: expect.stringMatching(NOT_PUBLIC) };
    expect(outcome).toMatchObject(i % 2 === 0 ? { ok: true, status: 200 } : refused);
  }
  expect(guard.receiver.requests.map(({ url }) => url).filter((url) => url !== '/neighbour')).toEqual([
    '/0',
    '/2',
    '/4',
  ]);
});
