// secrets: Code that logs its secret prop: as it is, in objects, in URLs, as base64 and hex, in the log of an error.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { secretsIn } from '../../support/whole-output.ts';

const world = hostile();

const token = 'ghp_"quo\'ted" s/cr+t\\';

it('the log names the prop instead', async () => {
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Logs', version: '1', props: { token: { type: 'string', secret: true } }, run() {
        const { token } = this;
        console.log(token); console.warn('%s', token, { token }, [token]); console.error(new Error(token));
        console.log(JSON.stringify({ a: JSON.stringify({ token }) }), encodeURIComponent(token));
        console.log(new URLSearchParams({ token }).toString(), new URL('https://x.example/?t=' + token).href);
        for (const encoding of ['base64', 'base64url', 'hex']) console.log(Buffer.from(token).toString(encoding));
        for (const before of ['u:', 'us:', 'use:']) console.log('Basic ' + btoa(before + token));
        console.log(Buffer.from(token), JSON.stringify(Buffer.from(token)));
        throw new Error('the end of ' + token);
      } };`,
      { props: { token } },
    ),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'the end of [secret:token]' });
  expect(ran.logs).toHaveLength(12);
  for (const line of ran.logs) {
    expect([line, secretsIn(line, { token })]).toEqual([line, []]);
    expect(line).toContain('[secret:token]');
  }
});
