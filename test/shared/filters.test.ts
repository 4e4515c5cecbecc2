import { expect, test } from 'vitest';
import { explainFilter, LIMITS, matchesChannel, matchFilter, parseFilter } from '../../shared/src/index.ts';

function filterOf(json: unknown) {
  const outcome = parseFilter(json);
  if (outcome.kind === 'fault') throw new Error(`${outcome.fault.path} ${outcome.fault.message}`);
  return outcome.filter;
}

const answer = (data: unknown, json: unknown, left = 100_000) => matchFilter(filterOf(json), data, { left });

const ORDER = {
  type: 'order/created',
  order: { id: 7, total: 120, currency: 'EUR', note: null, paid: false },
  tags: ['gift', 'rush'],
  items: [
    { sku: 'a', inventory: 9 },
    { sku: 'b', inventory: 11 },
  ],
};

test.each([
  // Members: nested and dotted, several together.
  [{ type: 'order/created' }, true],
  [{ type: 'order/updated' }, false],
  [{ missing: 'x' }, false],
  [{ order: { total: 120 } }, true],
  [{ 'order.total': 120 }, true],
  [{ 'order.total': 120, type: 'order/created' }, true],
  [{ 'order.total': 120, type: 'order/updated' }, false],
  [{ order: { 'total.cents': 1 } }, false],
  [{ order: 7 }, false],
  [{ 'order.note': null }, true],
  [{ 'order.paid': false }, true],
  [{ 'order.id': '7' }, false],
  // Comparisons.
  [{ 'order.total': { $gte: 100 } }, true],
  [{ 'order.total': { $gt: 120 } }, false],
  [{ 'order.total': { $gt: 100, $lt: 121 } }, true],
  [{ 'order.total': { $lte: 119 } }, false],
  [{ 'order.total': { $gte: '100' } }, false],
  [{ 'order.currency': { $gt: 'DKK', $lt: 'USD' } }, true],
  [{ 'order.currency': { $eq: 'EUR' } }, true],
  [{ 'order.currency': { $neq: 'EUR' } }, false],
  [{ 'order.currency': { $neq: 'USD' } }, true],
  [{ 'order.none': { $neq: 'USD' } }, false],
  [{ 'order.currency': { $in: ['EUR', 'USD'] } }, true],
  [{ 'order.currency': { $in: 'EUR,USD' } }, false],
  [{ type: { $in: 'created' } }, true],
  [{ 'order.currency': { $nin: ['EUR', 'USD'] } }, false],
  [{ 'order.none': { $nin: ['EUR'] } }, false],
  [{ type: { $startsWith: 'order/' } }, true],
  [{ type: { $startsWith: ['refund/', 'order/'] } }, true],
  [{ type: { $endsWith: 'updated' } }, false],
  [{ type: { $endsWith: ['updated', 'created'] } }, true],
  [{ 'order.total': { $startsWith: '1' } }, false],
  [{ type: { $contains: 'er/cr' } }, true],
  // ActiveTenants.
  [{ 'order.note': { $exist: true } }, true],
  [{ 'order.none': { $exist: true } }, false],
  [{ 'order.none': { $exist: false } }, true],
  [{ none: { at: { all: { $exist: false } } } }, true],
  // Lists.
  [{ tags: 'gift' }, true],
  [{ tags: 'none' }, false],
  [{ tags: ['gift', 'rush'] }, true],
  [{ tags: ['gift', 'none'] }, false],
  [{ tags: { $eq: ['gift', 'rush'] } }, true],
  [{ tags: { $eq: ['rush', 'gift'] } }, false],
  [{ tags: { $eq: 'gift' } }, true],
  [{ tags: { $neq: 'gift' } }, false],
  [{ tags: { $contains: 'rush' } }, true],
  [{ tags: { $contains: 'rus' } }, false],
  [{ tags: { $in: ['rush', 'slow'] } }, true],
  [{ tags: { $nin: ['slow', 'late'] } }, true],
  [{ tags: { $nin: 'gift' } }, false],
  [{ tags: { $startsWith: 'ru' } }, true],
  [{ items: { sku: 'a' } }, true],
  [{ items: { inventory: { $lte: 9 } } }, true],
  [{ items: { inventory: { $lt: 9 } } }, false],
  [{ items: { sku: 'a', inventory: 11 } }, false],
  [{ items: { sku: 'a', $or: [{ inventory: 11 }, { inventory: 9 }] } }, true],
  [{ items: { sku: 'b', $or: [{ inventory: 12 }, { inventory: 9 }] } }, false],
  [{ 'items.sku': 'b' }, true],
  [{ 'items.1.sku': 'b' }, true],
  [{ 'items.0.sku': 'b' }, false],
  [{ 'items.7.sku': { $exist: false } }, true],
  [{ items: [{ sku: 'a' }, { sku: 'b' }] }, true],
  [{ items: [{ sku: 'a' }, { sku: 'c' }] }, false],
  // Logic, at every level.
  [{ $or: [{ type: 'x' }, { 'order.total': { $gt: 1 } }] }, true],
  [{ $or: [{ type: 'x' }, { 'order.total': { $gt: 500 } }] }, false],
  [{ $and: [{ type: { $exist: true } }, { tags: 'gift' }] }, true],
  [{ $and: [{ type: { $exist: true } }, { tags: 'none' }] }, false],
  [{ $not: { type: 'order/created' } }, false],
  [{ $not: { none: 1 } }, true],
  [{ type: { $or: ['order/created', 'order/paid'] } }, true],
  [{ 'order.total': { $not: { $gt: 200 } } }, true],
  [{ tags: { $not: 'gift' } }, false],
  [{ tags: { $not: 'none' } }, true],
  [{ tags: { $and: ['gift', 'rush'] } }, true],
  [{ items: { $not: { sku: 'c' } } }, true],
  [{ items: { $not: { sku: 'a' } } }, false],
] as [object, boolean][])('%j: %s', (json, expected) => {
  expect(answer(ORDER, json)).toBe(expected ? 'match' : 'no_match');
});

test.each([
  [10, { $gte: 5 }, true],
  ['created', { $or: ['created', 'paid'] }, true],
  [[1, 2, 3], { $contains: 2 }, true],
  [null, { $exist: true }, true],
  [null, { a: 1 }, false],
  [{ 'a.b': 1, a: { b: 2 } }, { 'a.b': 1 }, true],
  [{ 'a.b': 1, a: { b: 2 } }, { a: { b: 2 } }, true],
  [{ o: { a: 1, b: [{ c: 2 }] } }, { o: { $eq: { b: [{ c: 2 }], a: 1 } } }, true],
  [{ o: { a: 1, b: 2 } }, { o: { $eq: { a: 1 } } }, false],
] as [unknown, object, boolean][])('data that are %j, %j: %s', (data, json, expected) => {
  expect(answer(data, json)).toBe(expected ? 'match' : 'no_match');
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'a name such as %s means a member of the event and nothing else',
  (name) => {
    const json = JSON.parse(`{ "${name}": { "$exist": true } }`) as object;
    expect(answer({}, json)).toBe('no_match');
    expect(answer([], json)).toBe('no_match');
    expect(answer(JSON.parse(`{ "${name}": 1 }`), json)).toBe('match');
    expect(answer(JSON.parse(`{ "a": { "${name}": 1 } }`), JSON.parse(`{ "a.${name}": 1 }`))).toBe('match');
    const eq = JSON.parse(`{ "o": { "$eq": { "${name}": 1 } } }`) as object;
    expect(answer({ o: { other: 1 } }, eq)).toBe('no_match');
    expect(({} as Record<string, unknown>)['$exist']).toBeUndefined();
  },
);

test.each([
  ['text', 'filter', 'must be an object'],
  [['a'], 'filter', 'must be an object'],
  [{}, 'filter', 'must name a member or an operator'],
  [{ order: {} }, 'filter.order', 'must name a member or an operator'],
  [{ order: { total: { $gtee: 1 } } }, 'filter.order.total.$gtee', 'is not an operator; did you mean $gte?'],
  [{ a: { $regex: '(a+)+$' } }, 'filter.a.$regex', 'is not an operator'],
  [{ a: { $ref: 'b' } }, 'filter.a.$ref', 'is not an operator'],
  [{ 'order.total': { $gte: true } }, 'filter.order.total.$gte', 'must be a number or a text'],
  [{ a: { $gte: [1] } }, 'filter.a.$gte', 'must be a number or a text'],
  [{ a: { $exist: 1 } }, 'filter.a.$exist', 'must be true or false'],
  [{ a: { $in: 3 } }, 'filter.a.$in', 'must be a list'],
  [{ a: { $in: [] } }, 'filter.a.$in', 'must be a list'],
  [{ a: { $nin: [{}] } }, 'filter.a.$nin', 'must be a list'],
  [{ a: { $startsWith: 3 } }, 'filter.a.$startsWith', 'must be a text'],
  [{ a: { $endsWith: ['x', 3] } }, 'filter.a.$endsWith', 'must be a text'],
  [{ a: { $contains: {} } }, 'filter.a.$contains', 'must be a text'],
  [{ $or: { a: 1 } }, 'filter.$or', 'must be a list of filters'],
  [{ $and: [] }, 'filter.$and', 'must not be empty'],
  [{ $or: [{ a: 1 }, { b: { $x: 1 } }] }, 'filter.$or[1].b.$x', 'is not an operator'],
  [{ tags: [] }, 'filter.tags', 'must not be empty'],
])('%j is refused at %s: %s', (json, path, message) => {
  expect(parseFilter(json)).toMatchObject({
    kind: 'fault',
    fault: { path, message: expect.stringContaining(message) },
  });
});

const nested = (depth: number): object => (depth === 1 ? { a: 1 } : { a: nested(depth - 1) });
const deepValue = (depth: number): unknown => (depth === 0 ? 1 : [deepValue(depth - 1)]);

test('bounds on size, depth and count are told with their limit', () => {
  expect(parseFilter(nested(LIMITS.maxFilterDepth)).kind).toBe('filter');
  const many = Object.fromEntries(Array.from({ length: LIMITS.maxFilterConditions / 2 + 1 }, (_, n) => [`a${n}`, n]));
  for (const [json, name] of [
    [nested(LIMITS.maxFilterDepth + 1), 'maxFilterDepth'],
    [{ a: { $eq: deepValue(LIMITS.maxFilterDepth) } }, 'maxFilterDepth'],
    [{ a: 'x'.repeat(LIMITS.maxFilterBytes) }, 'maxFilterBytes'],
    [{ a: 'ü'.repeat(LIMITS.maxFilterBytes / 2) }, 'maxFilterBytes'],
    [many, 'maxFilterConditions'],
    [{ a: { $in: Array.from({ length: LIMITS.maxFilterConditions }, (_, n) => n) } }, 'maxFilterConditions'],
  ] as const) {
    expect(parseFilter(json)).toMatchObject({ kind: 'fault', fault: { limit: { name } } });
  }
});

test('an event that is too much for a filter is told apart from one that does not match', () => {
  const list = Array.from({ length: 10_000 }, (_, n) => ({ n }));
  expect(answer({ list }, { list: { n: 9_999 } })).toBe('match');
  expect(answer({ list }, { list: { n: -1 } }, 1_000)).toBe('too_costly');
  expect(answer({ list }, { $not: { list: { n: -1 } } }, 1_000)).toBe('too_costly');
  expect(answer({ list }, { list: { $neq: -1 } }, 1_000)).toBe('too_costly');
  expect(answer({ list }, { list: { $eq: list.slice(0, 2) } }, 1_000)).toBe('no_match');
  expect(answer({ text: 'x'.repeat(10_000_000) }, { text: { $contains: 'y' } }, 1_000)).toBe('too_costly');
});

test('lists within lists cost no more than they hold', () => {
  let data: unknown = { hit: false };
  for (let depth = 0; depth < 6; depth++) data = [data, data, data];
  const json = { $or: [{ hit: true }, { a: { hit: true } }, { 'a.b.hit': true }] };
  expect(answer(data, json, 20_000)).toBe('no_match');
});

test.each([
  [{ 'order.total': { $gte: 200 } }, '{"order.total":{"$gte":200}}'],
  [{ order: { currency: 'EUR', total: { $gt: 1, $lt: 100 } } }, '{"order":{"total":{"$lt":100}}}'],
  [{ type: 'order/created', tags: ['gift', 'none'] }, '{"tags":["gift","none"]}'],
  [{ $or: [{ type: 'x' }, { type: 'y' }] }, '{"$or":[{"type":"x"},{"type":"y"}]}'],
  [{ $and: [{ tags: 'gift' }, { type: 'y' }] }, '{"type":"y"}'],
  [{ $not: { tags: 'gift' } }, '{"$not":{"tags":"gift"}}'],
  [{ items: { sku: 'a', inventory: 11 } }, '{"items":{"sku":"a","inventory":11}}'],
  [{ none: { at: 1 } }, '{"none":{"at":1}}'],
  [{ type: 'order/created' }, undefined],
])('%j is explained by %s', (json, clause) => {
  expect(explainFilter(filterOf(json), ORDER, { left: 10_000 })).toBe(clause);
});

test.each([
  ['order.*', 'order.created', true],
  ['order.*', 'order.', true],
  ['order.*', 'order', false],
  ['*', 'order.created', true],
  ['*', '', true],
  ['*', '$errors', false],
  ['$*', '$errors', true],
  ['*.created', 'order.item.created', true],
  ['order.*.created', 'order.created', false],
  ['order.*.created', 'order.item.created', true],
  ['a*b*c', 'a-c-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['ab*ba', 'aba', false],
  ['order', 'order', true],
  ['order', 'Order', false],
  ['a.c', 'abc', false],
])('the channel pattern %s and the channel %s: %s', (pattern, channel, expected) => {
  expect(matchesChannel(pattern, channel)).toBe(expected);
});
