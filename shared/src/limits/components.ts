import { defineLimits } from './define-limits.ts';

/**
 * Code of components: saving, loading to read its exports, fetching from a URL, and importing
 * folders.
 */
// biome-ignore format: one limit a line
export const COMPONENT_LIMITS = defineLimits({
  maxComponentCodeBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'component', why: 'source text' },
  maxComponentFiles: { default: 100, unit: 'count', scope: 'component', why: 'files of a component that is fetched from a URL, together at most `maxComponentCodeBytes`' },
  maxOutlineChars: { default: 1024 * 1024, unit: 'characters', scope: 'component', why: 'its outline as JSON (name, props and the rest of its export), which the node parses' },
  maxOutlineValues: { default: 150_000, unit: 'count', scope: 'component', why: 'values in that JSON, and in the answers of `options` and `additionalProps`' },
  maxOutlineLists: { default: 40_000, unit: 'count', scope: 'component', why: 'lists and objects in that JSON' },
  maxOutlineNames: { default: 5_000, unit: 'count', scope: 'component', why: "different member names in that JSON; a megabyte of them takes the node's thread 0.1 s" },
  maxImportFiles: { default: 5_000, unit: 'count', scope: 'import', why: 'files of code in an imported folder of components' },
  maxImportBytes: { default: 24 * 1024 * 1024, unit: 'bytes', scope: 'import', why: 'bytes of those files' },
  maxImportComponents: { default: 1_000, unit: 'count', scope: 'import', why: 'components among those files' },
  maxWaitingImports: { default: 4, unit: 'count', scope: 'account', why: 'imports that are under way' },
  maxKeptImports: { default: 20, unit: 'count', scope: 'account', why: 'ended imports that are kept, the newest' },
  componentFetchesAtOnce: { default: 2, unit: 'count', scope: 'account', why: 'components whose files a node fetches from their URLs at once' },
  maxComponentFetchesPerTenant: { default: 256, unit: 'count', scope: 'account', why: 'those and the ones that wait; over it 429' },
  importsAtOnce: { default: 32, unit: 'count', scope: 'node', why: 'imports that are worked on at once, one of each account' },
  importTurnMs: { default: 5_000, unit: 'ms', scope: 'import', why: 'time of one import before the node turns to the next' },
  importRestMs: { default: 10_000, unit: 'ms', scope: 'account', why: 'how long imports rest where builds find no room or no packages' },
  importPatienceMs: { default: 600_000, unit: 'ms', scope: 'component', why: 'how long a component of an import waits for packages that the registry does not give' },
  maxImportAttempts: { default: 3, unit: 'count', scope: 'component', why: 'times that a component of an import is begun where its node ends each time' },
  sourceChangesAtOnce: { default: 16, unit: 'count', scope: 'account', why: 'changes of sources that go on at once on one node, deployments and deletions among them' },
  maxSourceChangesPerTenant: { default: 500, unit: 'count', scope: 'account', why: 'those and the ones that wait; over it 429, but for deletions' },
  changeLeaseSeconds: { default: 60, unit: 'seconds', scope: 'source', why: 'how long a change may leave its lease unextended before another node recovers it' },
  maxManifestBytes: { default: 64 * 1024, unit: 'bytes', scope: 'import', why: 'a package.json; a larger one is passed over' },
  fetchComponentMs: { default: 30_000, unit: 'ms', scope: 'component', why: 'fetching it from its URL, with the files that it imports' },
  describeCpuMs: { default: 4_000, unit: 'ms', scope: 'component', why: 'CPU time of loading it when it is saved' },
  describeWallMs: { default: 10_000, unit: 'ms', scope: 'component', why: 'duration of loading it when it is saved' },
  describeMemoryMb: { default: 128, unit: 'MB', scope: 'component', why: 'heap for loading it; an account with a larger `memoryMb` has that' },
});
