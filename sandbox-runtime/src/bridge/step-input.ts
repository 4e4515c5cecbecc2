import type { StepInput } from '../sandbox-types.ts';

/** Exports of an earlier step, as JSON text. */
export type StepText = readonly [namespace: string, exports: string];

export interface ReadStepInput extends Omit<StepInput, 'steps'> {
  /** Takes the text apart when it is called. */
  steps(): StepText[];
}

interface Head extends Omit<StepInput, 'steps' | 'context'> {
  steps: [namespace: string, chars: number][];
  contextChars: number;
}

type Slice = (text: string, from: number, to?: number) => string;

/**
 * One text of a head and of the JSON texts that it counts, which are JSON already: a step at the
 * end of a long workflow is given megabytes, and escaping them once more takes longer than the
 * step. Lengths are in UTF-16 units.
 *
 *   length of the head `:` head, as JSON | context | exports of each step …
 */
export function writeStepInput({ steps, context, ...rest }: StepInput): string {
  const head: Head = {
    ...rest,
    steps: steps.map(({ namespace, exports }) => [namespace, exports.length]),
    contextChars: context.length,
  };
  const json = JSON.stringify(head);
  return `${json.length}:${json}${context}${steps.map(({ exports }) => exports).join('')}`;
}

/**
 * `parse` and `slice`: those of the reader, which shares its language with code that can change it.
 */
export function readStepInput(text: string, parse: (json: string) => unknown, slice: Slice): ReadStepInput {
  let colon = 0;
  while (text[colon] !== ':') colon += 1;
  const at = colon + 1 + (parse(slice(text, 0, colon)) as number);
  const { steps: counted, contextChars, ...rest } = parse(slice(text, colon + 1, at)) as Head;
  const context = slice(text, at, at + contextChars);
  const steps = (): StepText[] => {
    const texts: StepText[] = [];
    let from = at + contextChars;
    for (let index = 0; index < counted.length; index += 1) {
      const [namespace, chars] = counted[index] as Head['steps'][number];
      texts[index] = [namespace, slice(text, from, from + chars)];
      from += chars;
    }
    return texts;
  };
  return { ...rest, context, steps };
}
