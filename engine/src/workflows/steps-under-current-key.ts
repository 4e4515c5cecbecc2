import { type Sealer, underCurrentKey } from '../secrets/index.ts';
import { isSealed } from '../props/index.ts';
import type { Step } from './deployment.ts';

/**
 * Steps as they are to be stored: while the sources of their version were deployed, which takes
 * minutes, the key may have been replaced.
 */
export function stepsUnderCurrentKey(
  sealer: Pick<Sealer, 'rewrap' | 'currentPrefix'>,
  accountId: string,
  steps: readonly Step[],
): Step[] {
  return steps.map((step) => {
    const props = Object.entries(step.configuredProps).map(([name, value]): [string, unknown] => [
      name,
      isSealed(value) ? { $sealed: underCurrentKey(sealer, accountId, value.$sealed) } : value,
    ]);
    return { ...step, configuredProps: Object.fromEntries(props) };
  });
}
