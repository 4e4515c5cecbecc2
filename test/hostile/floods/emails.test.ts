// limits: Hundreds of e-mails with `$.send.email`, with header lines in their subjects and files as their texts.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('fail one by one, and the server goes on', async () => {
  const calls = Array.from({ length: 99 }, (_, n): ['email', object] => [
    'email',
    { subject: n % 2 === 0 ? `a\r\nBcc: b${n}@example.com` : 'a', text: 'x'.repeat(1_000) },
  ]);
  const sends = await world.unharmed(() => sendEach(world, calls));
  expect(new Set(sends.map(({ status }) => status))).toEqual(new Set(['failed']));
  const reasons = new Set(sends.map(({ attempts }) => attempts[0]?.error));
  expect(reasons.size).toBe(2);
  expect([...reasons]).toContain('subject must not hold line breaks or control characters');
  expect([...reasons]).toContainEqual(expect.stringContaining('sends no e-mail'));
});
