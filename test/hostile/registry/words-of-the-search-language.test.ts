// database: Searches that hold the operators of the search language, patterns, quotes, and words without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
const world = hostile();

it('are words like any other, or refused', async () => {
  const { attacker } = world;
  await world.unharmed(async () => {
    for (const q of [
      "' or 1=1 --",
      '!http',
      'http & !rss | *',
      ':*',
      '%',
      '_',
      "\\'",
      '((((',
      '<->',
      'a:*A',
      '\u0000',
      '\ud800'.toWellFormed(),
    ]) {
      const search = `/components/registry?q=${encodeURIComponent(q)}`;
      const list = `/components?q=${encodeURIComponent(q)}`;
      for (const { status } of [await attacker.api('GET', search), await attacker.api('GET', list)])
        expect([q, [200, 400].includes(status)]).toEqual([q, true]);
    }
    const long = await attacker.api('GET', `/components/registry?q=${'ab%20'.repeat(200)}`);
    expect(long.status).toBe(400);
    const negated = await attacker.api('GET', `/components/registry?q=${encodeURIComponent('!schedule')}`);
    expect(negated.body.data.map(({ key }: { key: string }) => key)).toContain('schedule-timer');
  });
});
