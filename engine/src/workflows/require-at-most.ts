import { HeadwaterError, LIMITS } from '@headwater/shared';

/** Before any of them is looked at. */
export function requireAtMost(path: 'steps' | 'triggers', used: number): void {
  const name = path === 'steps' ? 'maxWorkflowSteps' : 'maxWorkflowTriggers';
  const value = LIMITS[name];
  if (used <= value) return;
  const message = `must be at most ${value}`;
  const details = { fields: [{ path, message }], limit: { name, value, used } } as const;
  throw new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, details);
}
