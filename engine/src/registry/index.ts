export { createImports, startImports } from './imports.ts';
export { copyFromRegistry, findCopy } from './publish-to-registry.sql.ts';
export { createRegistry, findInRegistry } from './registry.ts';
export { createStarterSeed } from './starter-registry.ts';
