import type { DeliveryResult } from '../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { oneOf, some, statementCut, which } from './model-harness.ts';
import { fc } from './properties.ts';
import type { StatementCut } from './statement-cutter.ts';

/** `which` and `some` choose among those there are. */
export type LeaseMove = { node: number; cut: StatementCut | undefined } & (
  | { kind: 'accept'; rows: { source: number; isHeld: boolean }[] }
  | { kind: 'work'; which: number; limit: number }
  | { kind: 'commit'; some: number; capacity: number }
  | { kind: 'record'; some: number; status: DeliveryResult['status'] }
  | { kind: 'give-back-runs' | 'give-back-deliveries'; some: number }
  | { kind: 'redeliver' | 'activate' | 'deactivate'; which: number }
  | { kind: 'crash-alone'; which: number; times: number }
  | { kind: 'retry'; some: number }
  | { kind: 'delete' }
  | { kind: 'give-back-unheld' | 'crash' | 'silence' | 'declare-dead' | 'recover' | 'beat' | 'stop' }
);

export const LEASE_NODES = 3;
/** The last of them may be deleted. */
export const LEASE_SOURCES = 3;

const node = fc.nat({ max: LEASE_NODES - 1 });
const cut = statementCut(9, 3);
const source = fc.nat({ max: LEASE_SOURCES - 1 });
export const leaseMove: fc.Arbitrary<LeaseMove> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: oneOf('accept'),
      node,
      cut,
      rows: fc.array(fc.record({ source, isHeld: fc.boolean() }), { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 9, arbitrary: fc.record({ kind: oneOf('work'), node, cut, which, limit: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: oneOf('commit'), node, cut, some, capacity: fc.constantFrom(0, 3, 8) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: oneOf('record'), node, cut, some, status: oneOf('delivered', 'pending', 'failed') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: oneOf('give-back-runs', 'give-back-deliveries'), node, cut, some }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('redeliver'), node, cut, which }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: oneOf('crash-alone'), node, cut, which, times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('retry'), node, cut, some }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('activate', 'activate', 'deactivate'), node, cut, which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: oneOf('give-back-unheld', 'crash', 'silence', 'declare-dead', 'declare-dead', 'recover', 'beat', 'stop'),
      node,
      cut,
    }),
  },
  // Seldom: its source takes part in no move any more.
  { weight: 1, arbitrary: fc.record({ kind: oneOf('beat', 'beat', 'delete'), node, cut }) },
);
