import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, readExample, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

let hw: Headwater;
let code: string;
let rss: string;
let feed: Receiver;
/** Document of the feed server. The server derives an ETag from it, as real ones do. */
let document: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
  code = await readExample('rss-new-items.mjs');
  rss = await readFixture('feed.xml');
});
afterAll(() => hw?.stop());

beforeEach(async () => {
  feed = await startReceiver();
  document = rss;
  feed.answer = ({ headers }) => {
    const etag = `"${Buffer.from(document).length}-${document.length}"`;
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
    return { headers: { etag, 'content-type': 'application/rss+xml' }, body: document };
  };
});
afterEach(() => feed.stop());

function readFixture(name: string): Promise<string> {
  return readFile(new URL(`../../examples/fixtures/${name}`, import.meta.url), 'utf8');
}

async function deploy(props: Record<string, unknown> = {}): Promise<string> {
  const fallback = { url: `${feed.url}/feed.xml`, timer: { intervalSeconds: 86_400 } };
  const { id } = await hw.deploy(code, { ...fallback, ...props });
  return id;
}

async function poll(id: string): Promise<void> {
  await hw.api('POST', `/sources/${id}/run`);
  await hw.untilIdle();
}

async function ids(id: string): Promise<(string | null)[]> {
  const events = await hw.untilEvents(id, 0);
  return events.map(({ metadata }) => metadata.id);
}

function withItem(xml: string, guid: string, pubDate: string): string {
  const item = `<item><title>${guid}</title><guid>${guid}</guid><pubDate>${pubDate}</pubDate></item>\n    <item>`;
  return xml.replace('<item>\n', `${item}\n`);
}

const FIXTURE_IDS = [
  'https://river.example/notes/untitled',
  'river-2026-0316',
  'https://river.example/notes/cafe',
  'river-2026-0318',
];

test('deploying emits the items of the feed, oldest first, with guid, date and decoded text', async () => {
  const id = await deploy();
  const events = await hw.untilEvents(id, 4);
  expect(events.map(({ metadata }) => metadata.id)).toEqual(FIXTURE_IDS);
  expect(events[3]).toMatchObject({
    event: {
      guid: 'river-2026-0318',
      title: 'Weir opened: "0.8 m < limit" & falling',
      link: 'https://river.example/notes/weir-opened?ref=feed&utm_medium=rss',
      published: 'Fri, 20 Nov 2026 07:30:00 +0000',
      description: '<p>The lower weir was opened at <b>06:10</b>.</p>',
      author: 'Ines Møller',
      categories: ['Weirs', 'Levels & gauges'],
      enclosure: 'https://river.example/audio/318.mp3',
    },
    metadata: { summary: 'Weir opened: "0.8 m < limit" & falling', ts: Date.UTC(2026, 10, 20, 7, 30) },
  });
  expect(events[2]?.event.title).toBe('Café at the lock stays shut — for now');
  expect(events[1]?.event.link).toBe(`${feed.url}/notes/gauge-4`);
});

test('only the asked for number of items is emitted at the start, and the others never', async () => {
  const id = await deploy({ itemsAtStart: 1 });
  expect(await ids(id)).toEqual(['river-2026-0318']);
  document = withItem(document, 'river-2026-0319', 'Fri, 20 Nov 2026 09:00:00 GMT');
  await poll(id);
  document = withItem(document, 'river-2026-0320', 'Fri, 20 Nov 2026 10:00:00 GMT');
  await poll(id);
  expect(await ids(id)).toEqual(['river-2026-0318', 'river-2026-0319', 'river-2026-0320']);
});

test('an unchanged feed is asked for with its ETag and emits nothing', async () => {
  const id = await deploy();
  await poll(id);
  expect(feed.requests.map(({ headers }) => headers['if-none-match'] !== undefined)).toEqual([false, true]);
  expect(await ids(id)).toEqual(FIXTURE_IDS);
});

test('a feed that changed without new items emits nothing, and new ones are emitted oldest first', async () => {
  const id = await deploy();
  document = rss.replace('hourly', 'daily');
  await poll(id);
  expect(await ids(id)).toEqual(FIXTURE_IDS);
  document = withItem(withItem(document, 'n1', 'Fri, 20 Nov 2026 08:00:00 GMT'), 'n2', 'Fri, 20 Nov 2026 08:30:00 GMT');
  await poll(id);
  expect(await ids(id)).toEqual([...FIXTURE_IDS, 'n1', 'n2']);
});

test('the timer polls by itself', async () => {
  const id = await deploy({ timer: { intervalSeconds: 1 } });
  document = withItem(document, 'by-timer', 'Fri, 20 Nov 2026 08:00:00 GMT');
  const events = await hw.untilEvents(id, 5);
  expect(events.at(-1)?.metadata.id).toBe('by-timer');
  await hw.api('DELETE', `/sources/${id}`);
});

test('an Atom feed is read as well', async () => {
  document = await readFixture('atom.xml');
  const events = await hw.untilEvents(await deploy(), 2);
  expect(events.map(({ event }) => [event.id, event.link, event.author])).toEqual([
    ['tag:lockkeeper.example,2026:release/2.0.4', 'https://lockkeeper.example/releases/2.0.4', undefined],
    ['tag:lockkeeper.example,2026:release/2.1.0', `${feed.url}/releases/2.1.0`, 'Tomás Ibarra'],
  ]);
  expect(events[1]?.event.content).toBe('Gates close before they open.');
});

test('another feed of the same source starts anew', async () => {
  const id = await deploy();
  document = await readFixture('atom.xml');
  await hw.api('PUT', `/sources/${id}`, { configured_props: { url: `${feed.url}/releases.atom`, itemsAtStart: 1 } });
  await poll(id);
  await poll(id);
  expect(await ids(id)).toEqual([...FIXTURE_IDS, 'tag:lockkeeper.example,2026:release/2.1.0']);
});

test('a URL that is no feed is refused at deployment, and a feed that breaks later fails that poll alone', async () => {
  const good = document;
  document = '<html><body>Not here</body></html>';
  const configured_props = { url: `${feed.url}/feed.xml` };
  const refused = await hw.api('POST', '/sources', { component_code: code, configured_props });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('neither an RSS 2.0 nor an Atom feed')]);

  document = good;
  const id = await deploy();
  feed.script({ status: 503 });
  await poll(id);
  const { data: runs } = await hw.api('GET', `/sources/${id}/runs`);
  expect(runs[0].error.message).toContain('answered with status 503');
  document = withItem(document, 'after', 'Fri, 20 Nov 2026 08:00:00 GMT');
  await poll(id);
  const onDefaultChannel = (await hw.untilEvents(id, 5)).filter(({ metadata }) => metadata.name === '');
  expect(onDefaultChannel.map(({ metadata }) => metadata.id)).toEqual([...FIXTURE_IDS, 'after']);
});

test('a feed in Latin-1 is decoded as its declaration says', async () => {
  const xml =
    '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><item><title>Müll</title></item></channel></rss>';
  const server = createServer((_request, response) => response.end(Buffer.from(xml, 'latin1')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const id = await deploy({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
    const [event] = await hw.untilEvents(id, 1);
    expect(event?.event.title).toBe('Müll');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
