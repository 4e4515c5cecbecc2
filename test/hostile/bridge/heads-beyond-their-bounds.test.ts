// bridge: Headers of 300 kilobytes, header names and methods of 300 characters: more than the other side of the bridge takes.
import { expect, it } from 'vitest';
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
  expect(ran.events).toEqual([Array(8).fill('TypeError')]);
});
