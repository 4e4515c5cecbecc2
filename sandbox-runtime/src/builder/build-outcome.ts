import type { ExceededLimit, FieldError } from '@headwater/shared';
import type { ComponentBundle } from '../sandbox-types.ts';

export interface Built {
  bundle: ComponentBundle;
  /** The packages that the component itself imports, and the versions that were taken. */
  dependencies: Record<string, string>;
}

/** `limit`: the one that is the reason. */
export type BuildOutcome = ({ ok: true } & Built) | { ok: false; errors: FieldError[]; limit?: ExceededLimit };

/** Copies only the known members of a build process's answer. */
export function failedBuild({ errors, limit }: Omit<Extract<BuildOutcome, { ok: false }>, 'ok'>): BuildOutcome {
  return { ok: false, errors, ...(limit === undefined ? {} : { limit }) };
}
