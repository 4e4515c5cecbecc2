import type { StepInput, StepTexts } from '../sandbox-types.ts';

/** With one more step behind the others. */
export function addStep(
  { heads, exports }: StepTexts,
  { namespace, exports: added }: { namespace: string; exports: string },
): StepTexts {
  const head = JSON.stringify([namespace, added.length]);
  return { heads: heads === '' ? head : `${heads},${head}`, exports: exports + added };
}

export const NO_STEPS: StepTexts = { heads: '', exports: '' };

/** Steps as the guest reads them. `exportsOf`: the text of so many units behind so many others. */
export interface CountedSteps {
  counted: readonly (readonly [namespace: string, chars: number])[];
  exportsOf(from: number, chars: number): string;
}

export interface ReadStepInput extends Omit<StepInput, 'steps'> {
  /** Takes the text apart when it is called. */
  steps(): CountedSteps;
}

interface Head extends Omit<StepInput, 'steps' | 'context'> {
  headsChars: number;
  contextChars: number;
}

type Slice = (text: string, from: number, to?: number) => string;

/** `length of the head : head, as JSON | heads | context | exports` */
export function writeStepInput({ steps: { heads, exports }, context, ...rest }: StepInput): string {
  const head: Head = { ...rest, headsChars: heads.length, contextChars: context.length };
  const json = JSON.stringify(head);
  return `${json.length}:${json}${heads}${context}${exports}`;
}

/**
 * `parse` and `slice`: those of the reader, which shares its language with code that can change it.
 */
export function readStepInput(text: string, parse: (json: string) => unknown, slice: Slice): ReadStepInput {
  let colon = 0;
  while (text[colon] !== ':') colon += 1;
  const at = colon + 1 + (parse(slice(text, 0, colon)) as number);
  const { headsChars, contextChars, ...rest } = parse(slice(text, colon + 1, at)) as Head;
  const contextAt = at + headsChars;
  const exportsAt = contextAt + contextChars;
  return {
    ...rest,
    context: slice(text, contextAt, exportsAt),
    steps() {
      return {
        counted: parse(`[${slice(text, at, contextAt)}]`) as CountedSteps['counted'],
        exportsOf(from, chars) {
          return slice(text, exportsAt + from, exportsAt + from + chars);
        },
      };
    },
  };
}
