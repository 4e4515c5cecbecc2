import type { RunEntry, RunFault } from '@headwater/sandbox-runtime';
import type { RanComponent, RunOptions } from './sandbox-kit.ts';

type Run = (code: string, options: RunOptions) => Promise<RanComponent>;
type OptionsEntry = Extract<RunEntry, { kind: 'options' }>;

/** Asks a component for the options of a prop, or for its additional props, in a sandbox. */
export function propForms(run: Run): {
  options(code: string, prop: string, more?: Partial<OptionsEntry>, options?: RunOptions): Promise<unknown>;
  additional(code: string, previous?: unknown, options?: RunOptions): Promise<unknown>;
  fault(code: string, entry: RunEntry, options?: RunOptions): Promise<RunFault>;
} {
  async function answer(code: string, entry: RunEntry, options: RunOptions): Promise<unknown> {
    const { outcome } = await run(code, { ...options, entry });
    if (!outcome.ok) throw new Error(`${outcome.fault.code}: ${outcome.fault.message}`);
    return JSON.parse(outcome.result ?? 'null');
  }
  return {
    options: (code, prop, more = {}, options = {}) =>
      answer(code, { kind: 'options', prop, page: 0, ...more }, options),
    additional: (code, previous = {}, options = {}) =>
      answer(code, { kind: 'additional-props', previousPropDefs: JSON.stringify(previous) }, options),
    async fault(code, entry, options = {}) {
      const { outcome } = await run(code, { ...options, entry });
      if (outcome.ok) throw new Error(`It answered ${outcome.result}`);
      return outcome.fault;
    },
  };
}

/** A component with these props and nothing to do; `rest` are further members of it. */
export function withProps(props: string, rest = '', before = ''): string {
  return `${before}\nexport default { name: 'test', version: '1', props: {${props}}, ${rest} run() {} };`;
}
