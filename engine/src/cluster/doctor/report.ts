import type { EngineOptions } from '../../contract/index.ts';

/** One result of the doctor. `costs`: the consequence of a warning or failure, or its remedy. */
export interface DoctorCheck {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  costs?: string;
}

export interface DoctorReport {
  /** Nothing fails. */
  ok: boolean;
  checks: DoctorCheck[];
}

/** The options of a node that the doctor checks. */
export type DoctorOptions = Pick<
  EngineOptions,
  | 'databaseUrl'
  | 'dataDir'
  | 'encryptionKey'
  | 'oldEncryptionKeys'
  | 'egressAllow'
  | 'egressProxy'
  | 'sandbox'
  | 'networkEnvironment'
  | 'log'
>;

export const ok = (name: string, detail: string): DoctorCheck => ({ name, status: 'ok', detail });
export const warn = (name: string, detail: string, costs: string): DoctorCheck => ({
  name,
  status: 'warn',
  detail,
  costs,
});
export const failedCheck = (name: string, detail: string, costs: string): DoctorCheck => ({
  name,
  status: 'fail',
  detail,
  costs,
});

/** One of the things that the operating system does around processes of that kind. */
export function checkLayer(
  kind: 'sandbox' | 'builder',
  { layer, active, note }: { layer: string; active: boolean; note: string },
  costs: string,
  isRequired = false,
): DoctorCheck {
  if (active) return ok(`${kind} ${layer}`, note);
  return isRequired
    ? failedCheck(`${kind} ${layer}`, `${note}; HEADWATER_SANDBOX_REQUIRE names it`, costs)
    : warn(`${kind} ${layer}`, note, costs);
}

export function messageOf(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] };
  // Postgres on a name with several addresses: the reasons are in the parts.
  const parts = errors?.map((part) => part.message).join('; ');
  return message || parts || String(error);
}
