// bridge: Options and prop definitions that are none, nested without end or huge, and answers that nobody asked for.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const OPTIONS = { kind: 'options', prop: 'city', page: 0 } as const;
const PROPS = { kind: 'additional-props', previousPropDefs: '{}' } as const;
const RUN = { kind: 'run', event: '{}' } as const;

const answer = (expression: string) => `function attack() { send(OUTCOME, 1, '[1,1]', ${expression}); }`;
const deep = (inner: string) => `'${inner.replace('#', `' + '['.repeat(50000) + ']'.repeat(50000) + '`)}'`;

it('nothing of them reaches whoever asked', async () => {
  await world.unharmed(async () => {
    for (const text of [
      `'{'`,
      `'null'`,
      `'{"options":{}}'`,
      `'{"options":[1]}'`,
      `'{"options":[{"label":1,"value":1}]}'`,
      `'"' + 'x'.repeat(2000000) + '"'`,
      deep('{"options":[{"label":"a","value":#}]}'),
    ]) {
      const { outcome } = await runInForgedProcess(answer(text), { entry: OPTIONS });
      expect(outcome).toMatchObject({
        ok: false,
        fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining('city') },
      });
    }
    for (const text of [
      `'[]x'`,
      `'5'`,
      `'{"props":[]}'`,
      `'{"props":{"__proto__":"string"}}'`,
      `'{"props":{"a":{"type":"app[]"}}}'`,
      deep('{"props":{"a":{"type":"string","default":#}}}'),
    ]) {
      const { outcome } = await runInForgedProcess(answer(text), { entry: PROPS });
      expect(outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR' } });
    }
    const extra = await runInForgedProcess(answer(`'{"options":[{"label":"a","value":1,"$sealed":"x"}],"more":1}'`), {
      entry: OPTIONS,
    });
    expect(extra.outcome).toMatchObject({ ok: true, result: '{"options":[{"label":"a","value":1}]}' });
  });
});

it('an answer that nobody asked for, one that is missing, and output of a form end the process', async () => {
  await world.unharmed(async () => {
    for (const [script, entry] of [
      [answer(`'{"options":[]}'`), RUN],
      [`function attack() { send(OUTCOME, 1, '[1,1]'); }`, OPTIONS],
      [`function attack() { send(EMIT, 1, '1', META); }`, OPTIONS],
      [`function attack() { send(DB_SET, 1, 'k', '1'); }`, PROPS],
      [`function attack() { send(RESPOND, 1, '{"status":200,"headers":[]}', ''); }`, PROPS],
    ] as const) {
      const ran = await runInForgedProcess(script, { entry });
      expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
      expect([ran.host.events, ran.host.writes, ran.host.responses]).toEqual([[], [], []]);
      expect(ran.otherData).toEqual(['honest']);
    }
  });
});
