import { writeFileSync } from 'node:fs';
import { readAttacks, readDocument, writeTables } from './attack-table.ts';

// Writes the table of attacks in docs/attacks.md from the comments above them.
const { path, before, after } = readDocument();
const attacks = readAttacks();
writeFileSync(path, `${before}\n\n${writeTables(attacks)}\n\n${after}`);
console.log(`${attacks.length} attacks`);
