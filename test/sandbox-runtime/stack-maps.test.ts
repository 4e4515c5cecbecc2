import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findSegments } from '../../sandbox-runtime/src/bridge/find-segments.ts';
import { createStackMaps, type MappedStack } from '../../sandbox-runtime/src/pool/map-stack.ts';
import { longestTurnMs } from '../support/longest-turn.ts';

const LINES = 300_000;
/** Each line of the bundle is the same line of the file, eight columns further to the left. */
const mapOf = (file: string, lines: number) => ({
  sourceMap: JSON.stringify({ sources: [file], mappings: `AAAQ${';AACA'.repeat(lines - 1)}` }),
});
const stackAt = (line: number) => `Error: x\n    at run (hw:component:${line}:1)\n    at node:internal`;

test('a stack is led back to the file in turns with others, however large the map', async () => {
  const large = mapOf('large.ts', LINES);
  const maps = createStackMaps();
  const syncMs = await longestTurnMs(async () => {
    const { mappings } = JSON.parse(large.sourceMap) as { mappings: string };
    expect(findSegments(mappings, [{ line: LINES - 1, column: 0 }])).toMatchObject([{ column: 8 }]);
    await sleep(5);
  });
  const inTurnsMs = await longestTurnMs(async () => {
    expect(await maps('o_1', large, stackAt(LINES))).toEqual({
      text: `    at run (large.ts:${LINES}:9)`,
      place: { file: 'large.ts', line: LINES, column: 8 },
    });
  });
  expect(inTurnsMs).toBeLessThan(syncMs);
});

test('stacks of one tenant are led back one after the other, and another tenant does not wait for them', async () => {
  const maps = createStackMaps();
  const done: string[] = [];
  const note = async (name: string, mapped: Promise<MappedStack | undefined>) => {
    expect((await mapped)?.text).toContain('.ts:');
    done.push(name);
  };
  const large = mapOf('large.ts', LINES);
  await Promise.all([
    note('first', maps('o_1', large, stackAt(LINES))),
    note('second', maps('o_1', mapOf('small.ts', 3), stackAt(2))),
    note('other', maps('o_2', mapOf('small.ts', 3), stackAt(2))),
  ]);
  expect(done).toEqual(['other', 'first', 'second']);
});

test('a broken map, and a stack without a frame of the author, have no place', async () => {
  const maps = createStackMaps();
  expect(await maps('o_1', { sourceMap: 'no JSON' }, stackAt(1))).toBeUndefined();
  expect(await maps('o_1', mapOf('a.ts', 1), 'Error: x\n    at node:internal')).toBeUndefined();
});
