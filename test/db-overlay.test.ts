import { expect, it } from 'vitest';
import { createDbOverlay } from '../engine/src/run/db-overlay.ts';

it('a value that an overlapping run sets later wins, whichever run ends first', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.set('dc_a', 'n', '1', 'slow');
  overlay.begin('dc_a');
  expect(overlay.get('dc_a', 'n')).toBe('1');
  overlay.set('dc_a', 'n', '2', 'quick');
  expect(overlay.isSuperseded('dc_a', 'n', 'quick')).toBe(false);
  overlay.end('dc_a', 'quick');
  expect(overlay.isSuperseded('dc_a', 'n', 'slow')).toBe(true);
  // Committed: Postgres has it, and perhaps a newer one of another node.
  expect(overlay.get('dc_a', 'n')).toBeUndefined();
  overlay.end('dc_a', 'slow');
});

it('remembers nothing of a source that no run is in', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.set('dc_a', 'n', '1', 'one');
  overlay.end('dc_a', 'one');
  overlay.begin('dc_a');
  expect(overlay.get('dc_a', 'n')).toBeUndefined();
  expect(overlay.isSuperseded('dc_a', 'n', 'two')).toBe(false);
});

it('keeps sources apart', () => {
  const overlay = createDbOverlay();
  overlay.begin('dc_a');
  overlay.begin('dc_b');
  overlay.set('dc_a', 'n', '1', 'one');
  expect(overlay.get('dc_b', 'n')).toBeUndefined();
});
