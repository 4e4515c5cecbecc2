// bridge: Headers of 300 kilobytes, header names and methods of 300 characters: more than the other side of the bridge takes.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `
export default { name: 'Heads', version: '1', props: { http: '$.interface.http' }, async run() {
  const http = process.getBuiltinModule('http');
  const viaHttp = (options) => new Promise((resolve, reject) => http.request('http://127.0.0.1:1/', options).on('error', reject).end());
  const large = { a: 'x'.repeat(300_000) };
  const long = { ['n'.repeat(300)]: 'x' };
  const acts = [
    () => fetch('http://127.0.0.1:1/', { headers: large }), () => fetch('http://127.0.0.1:1/', { headers: long }),
    () => fetch('http://127.0.0.1:1/', { method: 'M'.repeat(300) }), () => viaHttp({ headers: large }), () => viaHttp({ headers: long }),
    () => viaHttp({ method: 'M'.repeat(300) }), () => this.http.respond({ status: 200, headers: large }),
    () => this.http.respond({ status: 200, headers: long }),
  ];
  const names = [];
  for (const act of acts) try { await act(); names.push('done'); } catch (error) { names.push(error.name); }
  this.$emit(names);
} };`;

it('are errors of the run at its own line, and its process goes on', async () => {
  const ran = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(CODE);
    return world.run(id);
  });
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([[...Array(6).fill('TypeError'), 'RangeError', 'TypeError']]);
});

it('an answer of 25 000 headers, or a cookie of 250 000 attributes, ends a process that was taken over', async () => {
  await world.unharmed(async () => {
    for (const headers of [
      `Array(25000).fill(['h', ''])`,
      `Array(1001).fill(['set-cookie', 'a=1'])`,
      `[['set-cookie', ';'.repeat(250000)]]`,
      `Array(1000).fill(['set-cookie', 'x'.repeat(60)])`,
    ]) {
      const head = `JSON.stringify({ status: 200, headers: ${headers} })`;
      for (const answer of [`send(RESPOND, 1, ${head}, '')`, `send(STEP_RESPOND, 1, ${head}, '', 'now')`]) {
        const ran = await runInForgedProcess(`function attack() { ${answer}; send(OUTCOME, 1, '[1,1]'); }`);
        expect([answer, ran.outcome]).toMatchObject([answer, { ok: false, fault: { code: 'SANDBOX_CRASHED' } }]);
        expect(ran.host.responses).toEqual([]);
        expect(ran.problems.join()).toMatch(/An answer of too many headers|An answer whose headers are too large/);
        expect(ran.otherData).toEqual(['honest']);
      }
    }
    const head = `JSON.stringify({ status: 200, headers: Array(1000).fill(['x-a', 'x'.repeat(60)]) })`;
    const within = await runInForgedProcess(
      `function attack() { send(RESPOND, 1, ${head}, ''); send(OUTCOME, 1, '[1,1]'); }`,
    );
    expect(within.outcome.ok).toBe(true);
    expect(within.host.responses).toHaveLength(1);
  });
});
