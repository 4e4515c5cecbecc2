export { type HeldDatabase, holdDatabase } from './hold-database.ts';
export { type StartedEngine, startEngine } from './start-engine.ts';
