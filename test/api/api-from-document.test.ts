import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Operation, readOperations, type TypesOf, wrongValue } from '../support/api-document.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember } from '../support/members.ts';
import { fc } from '../support/properties.ts';
import { makeThings, type ThingIds } from '../support/tenant-things.ts';

/*
 * Every operation of the document, asked rightly and wrongly, on a node with two tenants whose
 * things have the same names. Each answer has a status that the document knows, each refusal a
 * code, and none has anything of the tenant next door.
 */

/** Data of the tenant that is never asked for it. */
const PRIVATE = 'only-the-first-tenant-knows';

interface Answer {
  status: number;
  type: string;
  text: string;
  requestId: string | null;
}

let hw: Headwater;
let operations: Operation[];
let typesOf: TypesOf;
let first: ThingIds;
let second: ThingIds;
let secondKey: string;
const keys: Record<string, string> = {};

beforeAll(async () => {
  hw = await startHeadwater({}, undefined, { maxProcesses: 4 });
  ({ operations, typesOf } = await readOperations(hw.url));
  const [one, other] = [await hw.newAccount(), await hw.newAccount()];
  [first, second] = [await makeThings(one, PRIVATE), await makeThings(other, 'nothing')];
  secondKey = other.apiKey;
  await makeKeys(other);
});
afterAll(() => hw?.stop());

async function makeKeys(tenant: Headwater): Promise<void> {
  const make = async (parameters: object) =>
    (await tenant.api('POST', '/api_keys', parameters as Record<string, unknown>)).data as {
      id: string;
      api_key: string;
    };
  const revoked = await make({ name: 'revoked' });
  await tenant.api('DELETE', `/api_keys/${revoked.id}`);
  const expired = await make({ name: 'expired', expires_at: Math.ceil(Date.now() / 1000) + 3_600 });
  await hw.sql`update api_keys set expires_at = now() - interval '1 minute' where id = ${expired.id}`;
  keys['revoked'] = revoked.api_key;
  keys['expired'] = expired.api_key;
  keys['publish'] = (await make({ name: 'publish', scopes: ['publish'] })).api_key;
  keys['read'] = (await make({ name: 'read', scopes: ['read'] })).api_key;
}

/** Finds the kind of thing that `{id}` of a path is. */
const KINDS: [RegExp, string][] = [
  [/^\/v1\/(?:tenants|accounts\/\{id\}\/|workspaces|orgs)/, 'account'],
  [/^\/v1\/(?:components|registry\/components)/, 'component'],
  [/^\/v1\/sources/, 'source'],
  [/^\/v1\/workflows/, 'workflow'],
  [/^\/v1\/webhooks/, 'webhook'],
  [/^\/v1\/subscriptions/, 'subscription'],
  [/^\/v1\/replays/, 'replay'],
  [/^\/v1\/data_stores/, 'store'],
  [/^\/v1\/environment_variables/, 'variable'],
  [/^\/v1\/stacks/, 'stack'],
  [/^\/v1\/(?:apps|users\/me\/oauth_clients)/, 'app'],
  [/^\/v1\/members\/invitations/, 'invitation'],
  [/^\/v1\/api_keys/, 'key'],
  [/^\/v1\/executions/, 'execution'],
];

const kindOf = ({ path }: Operation) => KINDS.find(([pattern]) => pattern.test(path))?.[1];
/** Names that each account has for itself: the other's is its own. */
const NAMED = new Set(['variable', 'stack']);

const idOf = (operation: Operation, ids: ThingIds) => ids[kindOf(operation) ?? ''] ?? 'none_1vZ8kQ0aB3xYpL9mWc2T';

interface Asked {
  id?: string;
  key?: string;
  query?: Record<string, string>;
  body?: unknown;
}

async function ask(operation: Operation, asked: Asked = {}): Promise<Answer> {
  const { method, path } = operation;
  const { id = idOf(operation, second), key = secondKey, query = {}, body } = asked;
  const url = new URL(path.replaceAll(/\{\w+\}/g, encodeURIComponent(id)), hw.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const hasBody = method !== 'GET' && body !== undefined;
  const stop = new AbortController();
  const response = await fetch(url, {
    method,
    signal: stop.signal,
    headers: { authorization: `Bearer ${key}`, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  // A stream has no end.
  const text = type.startsWith('text/event-stream') ? '' : await response.text();
  stop.abort();
  return { status, type, text, requestId: headers.get('x-request-id') };
}

/** Lists the faults that no answer may have. */
function faultsOf(operation: Operation, { status, type, text, requestId }: Answer): string[] {
  const { statuses } = operation;
  const problem = status < 400 ? undefined : (JSON.parse(text) as { type: string; status: number; request_id: string });
  return [
    ...(statuses.has(status) ? [] : [`the document has no ${status}: ${text.slice(0, 200)}`]),
    ...(status >= 500 ? [text.slice(0, 200)] : []),
    ...(requestId === null ? ['no x-request-id'] : []),
    ...(text.includes(PRIVATE) ? [`has data of the other tenant: ${text.slice(0, 400)}`] : []),
    ...(problem !== undefined && !/^urn:headwater:error:[a-z-]+$/.test(problem.type) ? [`no code: ${text}`] : []),
    ...(problem !== undefined && (problem.status !== status || problem.request_id !== requestId) ? [text] : []),
    ...(problem !== undefined && !type.startsWith('application/problem+json') ? [type] : []),
  ];
}

interface Case {
  operation: Operation;
  what: string;
  asked: Asked;
  /** Judges the answer. Default: any that the document has. */
  isRight?: (answer: Answer) => boolean;
}

/** Eight at a time: the answers of one are no other's business. */
async function run(cases: readonly Case[]): Promise<string[]> {
  const wrong: string[] = [];
  const rest = cases.values();
  const ask8 = Array.from({ length: 8 }, async () => {
    for (const { operation, what, asked, isRight = () => true } of rest) {
      const answer = await ask(operation, asked);
      const faults = faultsOf(operation, answer);
      if (!isRight(answer)) faults.push(`is ${answer.status}: ${answer.text.slice(0, 300)}`);
      wrong.push(...faults.map((fault) => `${operation.name}, ${what}: ${fault}`));
    }
  });
  await Promise.all(ask8);
  return wrong;
}

const status = (expected: number) => (answer: Answer) => answer.status === expected;

test('the document has what is tested here', () => {
  expect(operations.length).toBeGreaterThan(150);
  expect(new Set(operations.map(kindOf)).size).toBeGreaterThan(14);
});

test('every operation refuses a request without a key, and an unknown, a revoked and an expired key', async () => {
  const cases = operations.flatMap((operation): Case[] =>
    [
      { what: 'no key', key: '' },
      { what: 'unknown key', key: `hw_${'z'.repeat(32)}` },
      { what: 'revoked key', key: keys['revoked']! },
      { what: 'expired key', key: keys['expired']! },
    ].map(({ what, key }) => ({ operation, what, asked: { key, body: {} }, isRight: status(401) })),
  );
  expect(await run(cases)).toEqual([]);
});

test('a key without the scope, and a member without the role, is refused with a documented 403', async () => {
  const viewer = await makeMember(hw, `viewer.${Date.now()}@example.com`, 'viewer');
  // Each key may ask what it is.
  const forAccounts = operations.filter(({ takes, path }) => takes.account && path !== '/v1/session');
  const changes = forAccounts.filter(({ method, name }) => method !== 'GET' && name !== 'createStreamToken');
  const reads = forAccounts.filter(({ method }) => method === 'GET');
  const cases = [
    ...changes.map((operation): Case => ({ operation, what: 'read key', asked: { key: keys['read']!, body: {} } })),
    ...reads.map((operation): Case => ({ operation, what: 'publish key', asked: { key: keys['publish']! } })),
  ];
  expect(await run(cases.map((one) => ({ ...one, isRight: status(403) })))).toEqual([]);
  expect((await viewer.api('POST', '/webhooks', {})).status).toBe(403);
  const byAccount = operations.filter(({ takes }) => !takes.account);
  expect(
    await run(
      byAccount.map((operation) => ({
        operation,
        what: 'key of an account',
        asked: { body: {} },
        isRight: status(403),
      })),
    ),
  ).toEqual([]);
});

/** The key that an operation takes, so that a test gets past it. */
const keyFor = ({ takes }: Operation) => (takes.account ? secondKey : `hw_${'a'.repeat(32)}`);

const errorsOf = ({ text }: Answer) =>
  ((JSON.parse(text) as { errors?: { path: string }[] }).errors ?? []).map((one) => one.path.split(/[.[]/)[0]);

test('a value of a wrong type is a 400 that names its parameter', async () => {
  const cases = operations.flatMap((operation): Case[] => {
    const key = keyFor(operation);
    const inBody = Object.entries(operation.body).flatMap(([name, schema]): Case[] => {
      const types = typesOf(schema);
      const value = types === undefined ? undefined : wrongValue(types);
      if (value === undefined) return [];
      const body = { ...operation.example, [name]: value };
      const isRight = (answer: Answer) => answer.status === 400 && errorsOf(answer).includes(name);
      return [{ operation, what: `${name} = ${JSON.stringify(value)}`, asked: { key, body }, isRight }];
    });
    const inQuery = operation.query.flatMap(({ name, schema }): Case[] => {
      const types = typesOf(schema);
      if (operation.method !== 'GET' || types === undefined || types.has('string')) return [];
      const isRight = (answer: Answer) => answer.status === 400 && errorsOf(answer).includes(name);
      return [{ operation, what: `?${name}`, asked: { key, query: { [name]: 'no such value' } }, isRight }];
    });
    return [...inBody, ...inQuery];
  });
  expect(cases.length).toBeGreaterThan(300);
  expect(await run(cases)).toEqual([]);
});

test('a required parameter that is missing is a 400 that names it', async () => {
  const cases = operations.flatMap((operation): Case[] => {
    const key = keyFor(operation);
    const isRight = (name: string) => (answer: Answer) => answer.status === 400 && errorsOf(answer).includes(name);
    const inBody = operation.required.map((name): Case => {
      const { [name]: _, ...body } = operation.example;
      return { operation, what: `without ${name}`, asked: { key, body }, isRight: isRight(name) };
    });
    const inQuery = operation.query
      .filter(({ required }) => required && operation.method === 'GET')
      .map(({ name }): Case => ({ operation, what: `without ?${name}`, asked: { key }, isRight: isRight(name) }));
    return [...inBody, ...inQuery];
  });
  expect(cases.length).toBeGreaterThan(40);
  expect(await run(cases)).toEqual([]);
});

test('a thing of the tenant next door is not there, in the path and in the body', async () => {
  const forAccounts = operations.filter(({ takes }) => takes.account);
  const inPath = forAccounts
    .filter((operation) => operation.path.includes('{id}') && !NAMED.has(kindOf(operation) ?? ''))
    .map(
      (operation): Case => ({
        operation,
        what: 'in the path',
        asked: { id: idOf(operation, first), body: operation.example },
        // Its example may be refused before the id is looked at.
        isRight: (answer) => answer.status >= 400,
      }),
    );
  // The token is looked at when a stream is opened with it.
  const naming = forAccounts.filter(({ name }) => name !== 'createStreamToken');
  const inBody = naming.flatMap((operation) =>
    Object.keys(operation.body)
      .filter((name) => /^(?:component|source|emitter|listener|webhook|workflow)_id$/.test(name))
      .map((name): Case => {
        const kind = name === 'emitter_id' ? 'source' : name === 'listener_id' ? 'webhook' : name.slice(0, -3);
        const body = { ...operation.example, [name]: first[kind] };
        return { operation, what: name, asked: { body }, isRight: (answer) => answer.status >= 400 };
      }),
  );
  expect(await run([...inPath, ...inBody])).toEqual([]);
});

/**
 * Operations whose example fits another component, app or webhook than those here, and archives,
 * which need a passphrase.
 */
const OF_OTHER_THINGS = new Set([
  'configureProp',
  'reloadProps',
  'previewTransform',
  'setOwnOAuthClient',
  'exportAccount',
  'importAccount',
  // A provider outside would be asked.
  'createConnectedAccount',
]);

/** The example may name things that are not there, and is never wrong itself. */
const isNoFault = (answer: Answer) => answer.status !== 400;

const requiredOf = ({ query }: Operation) =>
  Object.fromEntries(query.filter(({ required }) => required).map(({ name }) => [name, 'same']));
/** No request gets past them. */
const ENDING = new Set(['deleteTenant', 'suspendTenant']);
const ORDER = ['GET', 'PUT', 'POST', 'DELETE'];

test('a request as the document shows it is answered as the document says', async () => {
  const tried = operations
    .filter(({ name, isStream }) => !ENDING.has(name) && !OF_OTHER_THINGS.has(name) && !isStream)
    .toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
  const reads = tried.filter(({ method }) => method === 'GET');
  const wrong = await run(
    reads.map((operation) => ({
      operation,
      what: 'as shown',
      asked: { key: keyFor(operation), query: requiredOf(operation) },
      isRight: operation.path.includes('{id}') && kindOf(operation) === undefined ? status(404) : isNoFault,
    })),
  );
  // One after the other: a thing is changed before it is deleted.
  for (const operation of tried.filter(({ method }) => method !== 'GET'))
    wrong.push(
      ...(await run([
        {
          operation,
          what: 'as shown',
          asked: { key: keyFor(operation), body: operation.example },
          isRight: isNoFault,
        },
      ])),
    );
  expect(wrong).toEqual([]);
});

const garbage = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', '\0', '\ud800', '1e999', '__proto__', -1, 1.5, 1e300, null, true, [], {}, [[]]),
);

test('examples in which something is changed never give a 5xx', async () => {
  const asked = fc
    .constantFrom(...operations.filter(({ name }) => !ENDING.has(name) && name !== 'createConnectedAccount'))
    .chain((operation) => {
      const names = [...Object.keys(operation.body), ...operation.query.map(({ name }) => name), '__proto__'];
      return fc.record({
        operation: fc.constant(operation),
        id: fc.oneof(
          fc.constant(idOf(operation, second)),
          fc.constant(idOf(operation, first)),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map((text) => text.toWellFormed()),
        ),
        changes: fc.array(fc.tuple(fc.constantFrom(...names), garbage), { maxLength: 3 }),
      });
    });
  const property = fc.asyncProperty(asked, async ({ operation, id, changes }) => {
    const given = Object.fromEntries(changes);
    const query = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
    // Paths of nothing but dots are another path.
    if (/^\.+$/.test(id)) return;
    const body = operation.method === 'GET' ? undefined : { ...operation.example, ...given };
    const isRead = operation.method === 'GET';
    const answer = await ask(operation, { id, key: keyFor(operation), ...(isRead ? { query } : { body }) });
    expect(faultsOf(operation, answer)).toEqual([]);
  });
  await fc.assert(property, { numRuns: Number(process.env['HEADWATER_FUZZ_RUNS'] ?? 500) });
});
