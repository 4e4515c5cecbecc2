import { expect, test } from 'vitest';
import { joinParts, LargeAnswer } from '../../api/src/answer-text.ts';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';
import { fc } from '../support/properties.ts';

test('parts are joined as they are, in a text where they are small and in bytes where they are not', async () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom('x'.repeat(40_000), 'é'.repeat(70_000), '😀'.repeat(50_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
      const whole = parts.join('');
      const answer = await joinParts(parts);
      const sent = typeof answer === 'string' ? answer : await new Response(answer.stream(() => undefined)).text();
      expect(sent === whole).toBe(true);
      expect(answer instanceof LargeAnswer).toBe(whole.length >= 64 * 1024);
      expect(answer.length).toBe(answer instanceof LargeAnswer ? Buffer.byteLength(whole) : whole.length);
    }),
    { numRuns: 60 },
  );
});

test('others have the thread between the parts', async () => {
  function* slowParts() {
    for (let made = 0; made < 20; made++) {
      const { user, system } = process.threadCpuUsage();
      const used = () => process.threadCpuUsage().user + process.threadCpuUsage().system - user - system;
      while (used() < 5_000);
      yield 'x'.repeat(100_000);
    }
  }
  expect((await longestTurnMs(() => joinParts(slowParts()))) / slowness()).toBeLessThan(50);
});
