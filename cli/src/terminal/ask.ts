import { confirm, isCancel, multiselect, password, select, text } from '@clack/prompts';
import { CliError } from '../cli-error.ts';
import { safeLine, safeText } from './safe-text.ts';

interface TextOptions {
  placeholder?: string;
  /** Answer for empty input. */
  fallback?: string;
  /** Returns the problem of an answer, or undefined. After a problem the question repeats. */
  check?: (answer: string) => string | undefined;
}

export interface Choice<T> {
  label: string;
  value: T;
}

/** Asks the user at the terminal. */
export interface Ask {
  /** False: no user can answer, so no question is asked. */
  possible: boolean;
  text(question: string, options?: TextOptions): Promise<string>;
  choose<T>(question: string, choices: readonly Choice<T>[]): Promise<T>;
  /** `chosen`: choices that are marked at the start. */
  chooseSeveral<T>(question: string, choices: readonly Choice<T>[], chosen?: readonly T[]): Promise<T[]>;
  /** Not shown while it is typed. */
  secret(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** Shows information that the user needs to answer. */
  tell(text: string): void;
}

/** Prompts go to stderr: what stdout is led to gets the result alone. */
export function createAsk(possible: boolean): Ask {
  const output = process.stderr;
  return {
    possible,
    text: (question, { placeholder, fallback, check } = {}) =>
      answer((signal) =>
        text({
          message: safeLine(question),
          output,
          signal,
          ...(placeholder === undefined ? {} : { placeholder }),
          ...(fallback === undefined ? {} : { defaultValue: fallback }),
          ...(check === undefined ? {} : { validate: (typed = '') => check(typed) }),
        }),
      ),
    async choose(question, choices) {
      const options = numbered(choices);
      const picked = await answer((signal) => select({ message: safeLine(question), output, signal, options }));
      return (choices[picked] as (typeof choices)[number]).value;
    },
    async chooseSeveral(question, choices, chosen = []) {
      const options = numbered(choices);
      const initialValues = chosen.map((value) => choices.findIndex((choice) => choice.value === value));
      const common = { message: safeLine(question), output, options, initialValues, required: true };
      const picked = await answer((signal) => multiselect({ ...common, signal }));
      return picked.map((at) => (choices[at] as (typeof choices)[number]).value);
    },
    secret(question) {
      const validate = (typed = '') => (typed === '' ? 'It needs a value' : undefined);
      return answer((signal) => password({ message: safeLine(question), output, signal, validate }));
    },
    confirm: (question) =>
      answer((signal) => confirm({ message: safeLine(question), output, signal, initialValue: false })),
    tell: (line) => void output.write(`${safeText(line)}\n`),
  };
}

/** Prompts get numbers, because components may offer any kind of value. */
function numbered(choices: readonly Choice<unknown>[]): { label: string; value: number }[] {
  return choices.map(({ label }, value) => ({ label: safeLine(label), value }));
}

/**
 * Waits for an answer. Ctrl-D or a closed terminal ends the input without a signal to the prompt.
 * Without this function the process would then end in the middle.
 */
async function answer<T>(prompt: (signal: AbortSignal) => Promise<T>): Promise<Exclude<T, symbol>> {
  const ended = new AbortController();
  let isAnswered = false;
  // An answer stops the input too, and is there in the same turn; what comes late would close the
  // next prompt.
  const onStop = () => void setImmediate(() => !isAnswered && ended.abort());
  process.stdin.once('pause', onStop).once('end', onStop);
  try {
    const given = await prompt(ended.signal);
    isAnswered = true;
    if (isCancel(given)) throw new CliError('interrupted', 'Cancelled');
    return given as Exclude<T, symbol>;
  } finally {
    process.stdin.off('pause', onStop).off('end', onStop);
  }
}
