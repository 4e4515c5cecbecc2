// secrets: A request that makes a source fail over its own secret, to read it in the answer that a stranger gets.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const token = 'key-of-the-upstream-api';

it('the stranger is told that it failed, and its owner why, without the secret', async () => {
  const source = await world.attacker.deploy(
    `export default { name: 'Proxy', version: '1',
      props: { http: { type: '$.interface.http', customResponse: true }, token: { type: 'string', secret: true } },
      run(event) { throw new Error('Upstream refused Bearer ' + this.token + ' for ' + event.query.q); } };`,
    { token },
  );
  const answer = await world.unharmed(() =>
    fetch(`${source.endpoint}?q=${encodeURIComponent(`%s ${'x'.repeat(2_000)}`)}`),
  );
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(text).not.toContain('Upstream');
  expect(text).not.toContain(token);
  const runs = await world.attacker.api('GET', `/sources/${source.id}/runs`);
  expect(runs.text).toContain('Upstream refused Bearer [secret:token] for %s');
  expect(runs.text).not.toContain(token);
});
