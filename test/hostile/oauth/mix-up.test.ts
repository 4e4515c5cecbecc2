// secrets: A provider's answer that arrives in the flow of another one, to have the code taken to the wrong token endpoint.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { beginFlow, comeBack, type EvilProvider, startEvilProvider } from '../../support/hostile-oauth.ts';

const world = hostile();
let honest: EvilProvider;
let evil: EvilProvider;
beforeAll(async () => {
  honest = await startEvilProvider(world, { oauth: { issuer: 'https://honest.example' } });
  evil = await startEvilProvider(world, { oauth: { issuer: 'https://evil.example' } });
});
afterAll(async () => {
  await honest.stop();
  await evil.stop();
});

it('the code stays where it is, and the flow is over', async () => {
  await world.unharmed(async () => {
    const answers: Record<string, string>[] = [
      { code: 'code-of-the-honest', iss: 'https://honest.example' },
      { code: 'code-of-the-honest' },
      { code: 'code-of-the-honest', iss: 'https://evil.example/' },
      { error: 'access_denied', iss: 'https://honest.example' },
    ];
    for (const answer of answers) {
      const { state } = await beginFlow(world.attacker, evil.slug);
      const ended = await comeBack(world, { state, ...answer });
      expect([answer, ended.status]).toEqual([answer, 400]);
      expect(ended.text).toContain('did not come from Evil');
      expect((await comeBack(world, { state, code: 'x', iss: 'https://evil.example' })).status).toBe(400);
    }
  });
  expect([...honest.tokenRequests(), ...evil.tokenRequests()]).toEqual([]);
});
