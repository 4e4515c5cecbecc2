import { writeFileSync } from 'node:fs';
import { readErrorPage } from './error-table.ts';

// Writes the table of errors in docs/errors.md from shared/src/errors.ts.
const { path, wanted } = readErrorPage();
writeFileSync(path, wanted);
console.log('docs/errors.md is written');
