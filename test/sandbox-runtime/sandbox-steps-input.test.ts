import { fc } from '../support/properties.ts';
import { expect, test } from 'vitest';
import { addStep, NO_STEPS, readStepInput, writeStepInput } from '../../sandbox-runtime/src/bridge/step-input.ts';

test('the text that a step is given is read as it was written', () => {
  const text = fc.string({ unit: 'binary' });
  const json = fc.jsonValue().map((value) => JSON.stringify(value));
  const steps = fc.array(fc.record({ namespace: text, exports: json }));
  const input = fc.record({
    namespace: text,
    steps,
    context: json,
    env: fc.dictionary(text, text),
    resumeUrl: text,
    cancelUrl: text,
  });
  const slice = (whole: string, from: number, to?: number) => whole.slice(from, to);
  fc.assert(
    fc.property(input, (given) => {
      const written = writeStepInput({ ...given, steps: given.steps.reduce(addStep, NO_STEPS) });
      // As it crosses: in UTF-8.
      const crossed = Buffer.from(written, 'utf8').toString('utf8');
      const { steps: read, ...rest } = readStepInput(crossed, JSON.parse, slice);
      const { counted, exportsOf } = read();
      let from = 0;
      const texts = counted.map(([namespace, chars]) => {
        from += chars;
        return { namespace, exports: exportsOf(from - chars, chars) };
      });
      const all = { ...rest, steps: texts };
      expect(all).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});
