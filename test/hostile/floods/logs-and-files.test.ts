import { describe, expect, it } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// limits: Millions of labels for console.time and console.count, which are kept.
describe('console-labels', () => {
  const world = hostile({ ownAccounts: true });

  it('they are kept in the memory of the isolate, and end at its limit', async () => {
    await world.limit({ runCpuMs: 20_000, memoryMb: 32 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; ; i++) console.time('label ' + i + ' '.repeat(1000) + i)`),
    );
    expect(ran.error).toMatchObject({ code: 'MEMORY_LIMIT', limit: { name: 'memoryMb', value: 32 } });
  });
});

// limits: Log lines, each as long as is kept, until they fill the database.
describe('log-bytes', () => {
  const world = hostile({ ownAccounts: true });

  it('their bytes count as output, and the run ends at its limit even if it catches errors', async () => {
    await world.limit({ maxRunOutputBytes: 65_536, maxLogLineBytes: 16_384, maxLogLinesPerRun: 10_000 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; i < 500; i++) try { console.log('x'.repeat(20000)) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
    expect(ran.logs.join('').length).toBeLessThanOrEqual(65_536);
    const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
    const limits = runs.body.data[0].logs.map(({ limit }: { limit?: object }) => limit);
    expect(limits).toEqual(Array.from({ length: 4 }, () => ({ name: 'maxLogLineBytes', value: 16_384, used: 20_000 })));
  });
});

// limits: Deep, wide and cyclic objects given to console.log, over and over.
describe('log-huge-objects', () => {
  const world = hostile({ ownAccounts: true });

  it('formatting is cut short, the lines say so, and the run ends at a limit', async () => {
    await world.limit({ runCpuMs: 3_000, maxRunOutputBytes: 65_536, maxLogLineBytes: 4_096 });
    const ran = await world.unharmed(() =>
      world.attack(`
      const wide = Array.from({ length: 1e5 }, (_, i) => ({ i }));
      let deep = { wide };
      for (let i = 0; i < 1e4; i++) deep = { deep, again: deep, wide };
      const cyclic = { deep, wide }; cyclic.self = cyclic; wide[0] = cyclic;
      const table = Object.fromEntries(wide.slice(1, 300).map((row, i) => ['column'.repeat(12) + i, row]));
      for (;;) try { console.log(table, cyclic, wide, deep) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 3_000 } });
    expect(ran.logs.join('').length).toBeLessThanOrEqual(65_536);
    expect(ran.logs).not.toEqual([]);
    const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
    for (const { message, limit } of runs.body.data[0].logs) {
      expect(message).toMatch(/… \(cut\)$/);
      expect(limit).toMatchObject({ name: 'maxLogLineBytes', value: 4_096 });
      expect(limit.used).toBeGreaterThan(4_096);
    }
  });
});

// limits: Log lines of sixteen megabytes each.
describe('log-lines-of-megabytes', () => {
  const world = hostile({ ownAccounts: true });

  it('a line is cut to its limit inside the isolate, before it goes anywhere, and says so', async () => {
    // More processor time than the lines take on a full machine.
    await world.limit({ runCpuMs: 30_000, maxLogLineBytes: 256, maxRunOutputBytes: 65_536 });
    const ran = await world.unharmed(() =>
      world.attack(
        `const line = 'ü'.repeat(8e6); for (let i = 0; i < 20; i++) console.log(line, i); throw new Error('done')`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'done' });
    expect(ran.logs).toHaveLength(20);
    expect(ran.logs.every((line) => Buffer.byteLength(line) <= 256 && line.endsWith('… (cut)'))).toBe(true);
    const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
    for (const { limit } of runs.body.data[0].logs) {
      expect(limit).toMatchObject({ name: 'maxLogLineBytes', value: 256 });
      // Each line was read up to this size.
      expect(limit.used).toBeGreaterThan(65_536);
    }
  });
});

// fairness: Many runs that log without a pause and do not end, to be shown to followers all at
describe('log-lines-while-runs-go-on', () => {
  const world = hostile({ ownAccounts: true });
  const RUNS = longRun(8, 20);
  const ROUNDS = longRun(6, 12);

  it("the bytes stored of each run before its end are bounded, and the neighbour's stream goes on", async () => {
    const { attacker, neighbour, sql, server } = world;
    const flood = await attacker.deploy(
      `export default { name: 'Flood', version: '1', async run() {
       for (let round = 0; round < ${ROUNDS}; round++) {
         for (let i = 0; i < 40; i++) console.log(String.fromCharCode(0, 34, 92).repeat(2_600));
         await new Promise((done) => setTimeout(done, 250));
       }
     } };`,
    );
    const slow = await neighbour.deploy(
      `export default { name: 'Slow', version: '1', async run() {
       console.log('first'); await new Promise((done) => setTimeout(done, ${ROUNDS * 500})); console.log('last');
     } };`,
    );
    const stream = await openEventSource(`${server.url}/v1/sources/${slow.id}/logs`, neighbour.key);
    try {
      await world.unharmed(async () => {
        for (let n = 0; n < RUNS; n++) await attacker.api('POST', `/sources/${flood.id}/run`, {});
        await neighbour.api('POST', `/sources/${slow.id}/run`, {});
        await eventually(() => stream.messages.length > 0, { what: 'the first line of the neighbour' });
        const [parts] = await sql<{ longest: number; runs: number }[]>`
        select coalesce(max(octet_length(logs)), 0)::int as longest, count(distinct run_id)::int as runs
        from live_lines where emitter_id = ${flood.id}`;
        // Twice the characters of a part at most, as JSON.
        expect(parts?.longest).toBeLessThan(300_000);
        await world.untilIdle(120_000);
        await eventually(() => stream.messages.length >= 2, { what: 'the last line of the neighbour' });
      });
      expect(stream.messages.map(({ data }) => data.event.message)).toEqual(['first', 'last']);
    } finally {
      stream.close();
    }
  });
});

// limits: Log lines without end, from a loop that never yields.
describe('log-lines', () => {
  const world = hostile({ ownAccounts: true });

  it('lines beyond the limit are dropped, the last one says so, and the loop ends at its CPU time', async () => {
    await world.limit({ runCpuMs: 300, maxLogLinesPerRun: 50 });
    const ran = await world.unharmed(() => world.attack(`for (let i = 0; ; i++) console.log('line', i)`));
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
    expect(ran.logs).toHaveLength(51);
    expect(ran.logs.at(-1)).toBe('Further log lines are dropped; the limit maxLogLinesPerRun is 50');
    const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
    const limits = runs.body.data[0].logs.map(({ limit }: { limit?: object }) => limit);
    expect(limits).toEqual([...Array(50), { name: 'maxLogLinesPerRun', value: 50, used: 51 }]);
  });
});

// limits: Files of megabytes below /tmp, without end.
describe('tmp-bytes', () => {
  const world = hostile({ ownAccounts: true });

  it('the run ends at its limit, as on a full disk', async () => {
    await world.limit({ maxTmpBytes: 1_000_000 });
    const ran = await world.unharmed(() =>
      world.attack(
        `import fs from 'fs';
      export default { name: 'x', version: '1', run() { for (let i = 0; ; i++) fs.writeFileSync('/tmp/f' + i, 'x'.repeat(4e5)) } };`,
      ),
    );
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxTmpBytes', value: 1_000_000, used: 1_200_000 },
    });
  });
});

// limits: Empty files and directories below /tmp, without end.
describe('tmp-entries', () => {
  const world = hostile({ ownAccounts: true });

  it('the run ends at its limit, as on a full disk', async () => {
    await world.limit({ maxTmpEntries: 50 });
    const ran = await world.unharmed(() =>
      world.attack(
        `import fs from 'fs';
      export default { name: 'x', version: '1', run() { for (let d = '/tmp/d'; ; d += '/d') fs.mkdirSync(d) } };`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxTmpEntries', value: 50, used: 51 } });
  });
});
