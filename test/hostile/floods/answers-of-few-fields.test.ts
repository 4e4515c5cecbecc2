// fairness: Lists for which megabytes are read, and of which an answer has next to nothing, asked for again and again.
import { LIMITS } from '@headwater/shared';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/** As many pairs as three: the third begins when both of the first have ended twice. */
const REQUESTS = 6;
const EVENTS = 10;
const EVENT_CHARS = 400_000;
const LINES = 250;
const LINE_CHARS = 16_000;
const SOURCES = 12;
const PROP_CHARS = 60_000;

const LARGE = `export default { name: 'Large', version: '1', run() {
  for (let i = 0; i < ${EVENTS}; i++) this.$emit('x'.repeat(${EVENT_CHARS}));
} };`;
const LOUD = `export default { name: 'Loud', version: '1', run() {
  for (let i = 0; i < ${LINES}; i++) console.log('x'.repeat(${LINE_CHARS}));
} };`;
const PROPS = `export default { name: 'Props', version: '1', props: { a: 'string', b: 'string', c: 'string' }, run() {} };`;

async function deployProps(): Promise<void> {
  const value = 'x'.repeat(PROP_CHARS);
  await Promise.all(
    Array.from({ length: SOURCES }, () => world.attacker.deploy(PROPS, { a: value, b: value, c: value })),
  );
}

it('take their turns as long as what was read takes at the pace, and the neighbour is served', async () => {
  const { attacker } = world;
  const [{ id: large }, { id: loud }] = [await attacker.deploy(LARGE), await attacker.deploy(LOUD)];
  await deployProps();
  for (const id of [large, loud]) await attacker.api('POST', `/sources/${id}/run`, {});
  await world.untilIdle();
  await world.unharmed(async () => {
    for (const [path, chars] of [
      [`sources/${large}/event_summaries?expand=event&limit=100&include=id`, EVENTS * EVENT_CHARS],
      [`sources/${large}/events?expand=event&limit=100&exclude=event`, EVENTS * EVENT_CHARS],
      [`sources/${loud}/$logs/event_summaries?limit=1&include=id`, LINES * LINE_CHARS],
      [`sources/${loud}/runs?limit=1&include=id`, LINES * LINE_CHARS],
      [`sources?limit=100&include=id`, Math.min(LIMITS.maxPageBytes, SOURCES * 3 * PROP_CHARS) - 3 * PROP_CHARS],
    ] as const) {
      const begunMs = performance.now();
      const answers = await Promise.all(Array.from({ length: REQUESTS }, () => attacker.api('GET', `/${path}`)));
      const tookMs = performance.now() - begunMs;
      for (const { status, text } of answers) expect([path, status, text.length < 20_000]).toEqual([path, 200, true]);
      const restMs = ((chars - LIMITS.smallAnswerChars) / LIMITS.answerCharsPerSecond) * 1_000;
      expect([path, tookMs > 2 * restMs]).toEqual([path, true]);
    }
  });
});
