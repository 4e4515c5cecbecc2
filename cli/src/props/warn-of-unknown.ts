import { nearest } from '@headwater/shared';
import type { ComponentProp } from '../api/resources.ts';
import type { Output } from '../terminal/output.ts';

/** A value under a name that no prop has reaches nobody: the server keeps it, and the component never looks at it. */
export function warnOfUnknown(
  output: Pick<Output, 'warn'>,
  given: Readonly<Record<string, unknown>>,
  definitions: readonly Pick<ComponentProp, 'name'>[],
): void {
  const known = definitions.map(({ name }) => name);
  for (const [name, value] of Object.entries(given)) {
    // What is taken away may be of a version before.
    if (known.includes(name) || value === null) continue;
    const similar = nearest(name, known);
    const meant =
      similar.length === 0 ? `its props: ${known.join(', ') || 'none'}` : `did you mean ${similar.join(', ')}?`;
    output.warn(`the component has no prop ${name} (${meant})`);
  }
}
