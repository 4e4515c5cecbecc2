import { writeFileSync } from 'node:fs';
import { readLimitPage } from './limit-tables.ts';

// Writes the tables of limits in docs/configuration.md from shared/src/limits.
const { path, wanted } = readLimitPage();
writeFileSync(path, wanted);
console.log('docs/configuration.md is written');
