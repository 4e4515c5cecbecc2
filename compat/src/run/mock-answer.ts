/** A request as the mock sees it. */
export interface MockRequest {
  method: string;
  url: string;
}

export interface MockAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const MADE_AT = '2024-04-17T10:41:49.000Z';
/** Names under which APIs put their lists. */
const LISTS = [
  'data',
  'items',
  'results',
  'records',
  'entries',
  'objects',
  'list',
  'values',
  'rows',
  'events',
  'messages',
];
/**
 * Lists have items this often; afterwards they are empty, so that a component that reads page after
 * page comes to an end.
 */
const FULL_ANSWERS = 2;

/**
 * Mock API of one run: JSON with the fields of most APIs, and equal answers to equal requests. It
 * is exact for no API, so the run in Node.js decides whether it fits a component.
 */
export function createMock(): (request: MockRequest) => MockAnswer {
  let answered = 0;
  return ({ method, url }) => {
    answered += 1;
    const lists = answered <= FULL_ANSWERS ? [itemOf(url)] : [];
    const body = { ...itemOf(url), ...Object.fromEntries(LISTS.map((name) => [name, lists])), total: lists.length };
    return {
      status: method === 'POST' ? 201 : 200,
      headers: { 'content-type': 'application/json', date: new Date(MADE_AT).toUTCString() },
      body: JSON.stringify(body),
    };
  };
}

function itemOf(url: string): Record<string, unknown> {
  return {
    id: 1,
    name: 'mock',
    title: 'mock',
    type: 'mock',
    status: 'ok',
    ok: true,
    success: true,
    url,
    email: 'mock@example.com',
    created_at: MADE_AT,
    createdAt: MADE_AT,
    updated_at: MADE_AT,
    updatedAt: MADE_AT,
    date: MADE_AT,
    timestamp: Date.parse(MADE_AT) / 1000,
  };
}
