import type { FieldError } from '@headwater/shared';
import type { ComponentBundle } from '../sandbox.ts';

export interface Built {
  bundle: ComponentBundle;
  /** The packages that the component itself imports, and the versions that were taken. */
  dependencies: Record<string, string>;
}

export type BuildOutcome = ({ ok: true } & Built) | { ok: false; errors: FieldError[] };
