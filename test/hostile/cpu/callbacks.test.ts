import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// limits: An emitted event whose getter never returns.
describe('getter-in-an-event', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'this.$emit({ get value() { for (;;); } });');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A logged proxy whose traps never return.
describe('proxy-in-the-log', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'console.log(new Proxy({}, { ownKeys() { for (;;); } }));');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: An emitted proxy that always has one more key.
describe('proxy-traps-in-an-event', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `let keys = 0;
const has = () => ({ value: 1, enumerable: true, configurable: true });
const bottomless = () => new Proxy({}, { ownKeys: () => [\`key\${(keys += 1)}\`], getOwnPropertyDescriptor: has, get: bottomless });
for (;;) try { this.$emit(bottomless()) } catch {}`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A returned object whose `then` never returns.
describe('thenable-that-loops', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'return { then() { for (;;); } };');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: An emitted event whose toJSON never returns.
describe('to-json-in-an-event', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'this.$emit({ toJSON() { for (;;); } });');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A thrown error whose message, name and stack never return.
describe('to-string-of-an-error', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `const loop = { get() { for (;;); } };
throw Object.defineProperties(new Error('x'), { name: loop, message: loop, stack: loop });`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A loop in Error.prepareStackTrace, which is called when the platform reads the stack.
describe('prepare-stack-trace', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `Error.prepareStackTrace = () => { for (;;); };
null.x;`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// isolate: Finalizers that loop: V8 calls them when memory is freed, long after the run that
// registered them, in whichever run it is.
describe('finalizers', () => {
  const world = hostile();

  it('are never called, so no later run pays for them', async () => {
    const later = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      let kept;
      export default { name: 'Finalizers', version: '1', async run(event) {
        if (event.arm) {
          kept = new FinalizationRegistry(() => { for (;;); });
          for (let i = 0; i < 100; i++) kept.register({ i: new Array(100).fill(i) }, i);
          return;
        }
        let garbage = [];
        for (let i = 0; i < 200; i++) garbage = new Array(50_000).fill(i);
        this.$emit(garbage.length);
      } };`);
      await world.run(id, { arm: true });
      return [await world.run(id, {}), await world.run(id, {}), await world.run(id, {})];
    });
    expect(later.map((run) => run.error)).toEqual([undefined, undefined, undefined]);
  });
});

// fairness: A component of a third of a megabyte whose every run throws: each time the node looks
// up where, in its source map.
describe('error-in-much-code', () => {
  const world = hostile();

  it('each error has its place, and the neighbour is served meanwhile', async () => {
    const code = `export default { name: 'Large', version: '1', run() { ${'later(1);'.repeat(30_000)} } };
function later() { throw new Error('here'); }`;
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(code);
      return Promise.all(Array.from({ length: 5 }, () => world.run(id)));
    });
    for (const { error } of runs) {
      expect(error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'here' });
      expect(error?.stack).toContain('at later (component.mjs:2:');
    }
  });
});

// fairness: Steps that export, send and return megabytes of empty lists, and of empty texts beside
// a secret: half a second to parse or search.
describe('lists-in-step-outputs', () => {
  const world = hostile();

  const BODIES = [
    `$.export('lists', Array(1_900_000).fill([]));`,
    `for (let i = 0; i < 5; i++) $.send.emit(Array(300_000).fill([]));`,
    `return [this.token, ...Array(300_000).fill('')];`,
  ];

  it('are read in turns with others, and the neighbour is served meanwhile', async () => {
    const { attacker, sql } = world;
    const set = await attacker.api('PUT', '/environment_variables/TOKEN', { value: 'sk_live_0123456789' });
    expect(set.status).toBe(200);
    await world.unharmed(async () => {
      for (const body of BODIES) {
        const component_code = action(body, "token: { type: 'string' }");
        const steps = [{ namespace: 'lists', component_code, props: { token: '{{env.TOKEN}}' } }];
        const made = await attacker.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps });
        const { id, triggers } = made.body.data;
        await fetch(triggers[0].endpoint_url, { method: 'POST', body: '1' });
        const ended = () => sql<{ status: string; error: string | null }[]>`
        select status, error from executions where workflow_id = ${id} and ended_at is not null`;
        await eventually(async () => (await ended()).length > 0, { timeoutMs: 20_000, what: 'the execution to end' });
        expect(await ended()).toEqual([{ status: 'succeeded', error: null }]);
      }
    });
    const stored = await sql`
    select from execution_steps where account_id = ${attacker.id} and value like '%sk_live_0123456789%'`;
    expect(stored).toEqual([]);
  });
});
