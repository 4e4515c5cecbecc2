import { expect, test } from 'vitest';
import { cellsOf, readErrorPage } from '../support/error-table.ts';

test('the page of errors says of every code what it means and what to do (npm run fix:errors)', () => {
  const { text, wanted } = readErrorPage();
  expect(cellsOf(text)).toBe(cellsOf(wanted));
});
