import { confirm, isCancel, multiselect, password, select, text } from '@clack/prompts';
import { CliError } from '../cli-error.ts';
import { safeLine } from './safe-text.ts';

interface TextOptions {
  placeholder?: string;
  /** What no answer means. */
  fallback?: string;
  /** What is wrong with an answer; it is then asked again. */
  check?: (answer: string) => string | undefined;
}

export interface Choice<T> {
  label: string;
  value: T;
}

/** Questions to whoever sits at the terminal. */
export interface Ask {
  /** False: nobody can answer, so nothing is asked. */
  possible: boolean;
  text(question: string, options?: TextOptions): Promise<string>;
  choose<T>(question: string, choices: readonly Choice<T>[]): Promise<T>;
  /** `chosen`: what is marked from the beginning. */
  chooseSeveral<T>(question: string, choices: readonly Choice<T>[], chosen?: readonly T[]): Promise<T[]>;
  /** Not shown while it is typed. */
  secret(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** What somebody needs to know to answer. */
  tell(text: string): void;
}

/** Prompts go to stderr: what stdout is led to gets the result alone. */
export function createAsk(possible: boolean): Ask {
  const output = process.stderr;
  return {
    possible,
    text: async (question, { placeholder, fallback, check } = {}) =>
      answered(
        await text({
          message: safeLine(question),
          output,
          ...(placeholder === undefined ? {} : { placeholder }),
          ...(fallback === undefined ? {} : { defaultValue: fallback }),
          ...(check === undefined ? {} : { validate: (answer = '') => check(answer) }),
        }),
      ),
    async choose(question, choices) {
      const picked = await select({ message: safeLine(question), output, options: numbered(choices) });
      return (choices[answered(picked)] as (typeof choices)[number]).value;
    },
    async chooseSeveral(question, choices, chosen = []) {
      const options = numbered(choices);
      const initialValues = chosen.map((value) => choices.findIndex((choice) => choice.value === value));
      const picked = await multiselect({ message: safeLine(question), output, options, initialValues, required: true });
      return answered(picked).map((at) => (choices[at] as (typeof choices)[number]).value);
    },
    secret: async (question) => {
      const validate = (typed = '') => (typed === '' ? 'It needs a value' : undefined);
      return answered(await password({ message: safeLine(question), output, validate }));
    },
    confirm: async (question) => answered(await confirm({ message: safeLine(question), output, initialValue: false })),
    tell: (line) => void output.write(`${line}\n`),
  };
}

/** Values are whatever components make them: the prompts are given numbers. */
function numbered(choices: readonly Choice<unknown>[]): { label: string; value: number }[] {
  return choices.map(({ label }, value) => ({ label: safeLine(label), value }));
}

function answered<T>(value: T): Exclude<T, symbol> {
  if (isCancel(value)) throw new CliError('interrupted', 'Cancelled');
  return value as Exclude<T, symbol>;
}
