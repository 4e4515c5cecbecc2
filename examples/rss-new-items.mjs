/**
 * New items of a feed: polls an RSS 2.0 or Atom feed and emits each item once.
 *
 * Deploy it (KEY is your API key):
 *
 *   curl http://127.0.0.1:3000/v1/sources -H "Authorization: Bearer $KEY" \
 *     --data-urlencode component_code@examples/rss-new-items.mjs \
 *     --data-urlencode 'configured_props={"url":"https://example.com/feed.xml","timer":{"intervalSeconds":900}}'
 *
 * The newest items are emitted at once, those that come later by the poll that finds them. A feed
 * on a private address (127.0.0.1, 10.0.0.0/8 …) is only reached when the operator allows it.
 */
import { createHash } from 'node:crypto';

/**
 * The most items of one poll that are looked at, newest first. `unique` remembers 100 ids: looking
 * further back would emit forgotten items again, and the room between the two is for items that
 * disappear from the feed.
 */
const MAX_ITEMS = 80;
const MAX_ID_CHARS = 512;
const REQUEST_TIMEOUT_MS = 20_000;
const ACCEPT = 'application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1';

export default {
  name: 'New items of a feed',
  key: 'rss-new-items',
  version: '0.1.0',
  type: 'source',
  description: 'Emits the items of an RSS 2.0 or Atom feed as they are published.',
  dedupe: 'unique',
  props: {
    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
    db: '$.service.db',
    url: { type: 'string', label: 'Feed URL', description: 'An RSS 2.0 or Atom feed.' },
    itemsAtStart: {
      type: 'integer',
      label: 'Items at the start',
      description: 'How many of the items that are in the feed already are emitted when the source is deployed.',
      min: 0,
      max: MAX_ITEMS,
      optional: true,
      default: 5,
    },
  },
  hooks: {
    /** Fails where the URL is no feed: a mistake shows at once, and no source is left. */
    async deploy() {
      await this.poll();
    },
  },
  methods: {
    async poll() {
      const isNewFeed = this.db.get('validators')?.url !== this.url;
      const items = await this.fetchItems();
      if (items === undefined) return;
      if (isNewFeed) this.start(items);
      else this.emitNew(items);
    },
    /**
     * Emits a few recent items and remembers the others, so that the next poll does not bring them.
     */
    start(items) {
      const skipped = items.slice(this.itemsAtStart).map((item) => item.id);
      this.db.set('skipped', skipped);
      this.emitItems(items.slice(0, this.itemsAtStart));
    },
    /** Those that were emitted before are dropped by `dedupe`. */
    emitNew(items) {
      const skipped = new Set(this.db.get('skipped') ?? []);
      this.emitItems(items.filter((item) => !skipped.has(item.id)));
      // Only what the feed still shows has to be remembered.
      const left = items.map((item) => item.id).filter((id) => skipped.has(id));
      if (left.length < skipped.size) this.db.set('skipped', left);
    },
    /** Takes items newest first and emits them oldest first. */
    emitItems(items) {
      for (const item of items.toReversed()) {
        this.$emit(item, { id: item.id, summary: item.title || item.link || item.id, ts: item.timestamp });
      }
    },
    /**
     * The newest items, newest first; undefined where the feed has not changed since the last
     * request.
     */
    async fetchItems() {
      const { url, etag, lastModified } = this.db.get('validators') ?? {};
      const isSameFeed = url === this.url;
      const response = await fetch(this.url, {
        headers: {
          accept: ACCEPT,
          ...(isSameFeed && etag ? { 'if-none-match': etag } : {}),
          ...(isSameFeed && lastModified ? { 'if-modified-since': lastModified } : {}),
        },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      if (response.status === 304) return undefined;
      if (!response.ok) throw new Error(`${this.url} answered with status ${response.status}`);
      const items = parseFeed(await readText(response), this.url);
      // Stored in the same commit as the events of this run: an item is never passed over because a
      // run failed.
      this.db.set('validators', {
        url: this.url,
        etag: response.headers.get('etag'),
        lastModified: response.headers.get('last-modified'),
      });
      return newestFirst(items).slice(0, MAX_ITEMS);
    },
  },
  async run() {
    await this.poll();
  },
};

/** Decodes as the header or the XML declaration says; UTF-8 without either. */
async function readText(response) {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
  const declared =
    /charset="?([\w-]+)/i.exec(response.headers.get('content-type') ?? '')?.[1] ??
    /^\s*<\?xml[^>]*\sencoding=["']([\w-]+)/.exec(head)?.[1] ??
    'utf-8';
  return new TextDecoder(declared).decode(bytes);
}

/**
 * Feeds list newest first, so items without a date, and those of the same moment, stay in the
 * feed's order.
 */
function newestFirst(items) {
  if (items.some((item) => item.timestamp === undefined)) return items;
  return items.toSorted((a, b) => b.timestamp - a.timestamp);
}

/**
 * Items of an RSS 2.0 feed or entries of an Atom one, in the feed's order. Throws where the text is
 * neither.
 */
function parseFeed(xml, feedUrl) {
  const root = parseXml(xml);
  const rss = child(root, 'rss');
  if (rss !== undefined) return children(child(rss, 'channel'), 'item').map((item) => rssItem(item, feedUrl));
  const atom = child(root, 'feed');
  if (atom !== undefined) return children(atom, 'entry').map((entry) => atomEntry(entry, feedUrl));
  throw new Error(`${feedUrl} is neither an RSS 2.0 nor an Atom feed`);
}

function rssItem(item, feedUrl) {
  const published = textOf(item, 'pubDate') ?? textOf(item, 'dc:date');
  const link = absoluteUrl(textOf(item, 'link'), feedUrl);
  return makeItem({
    guid: textOf(item, 'guid'),
    title: textOf(item, 'title'),
    link,
    published,
    description: textOf(item, 'description'),
    content: textOf(item, 'content:encoded'),
    author: textOf(item, 'dc:creator') ?? textOf(item, 'author'),
    categories: children(item, 'category').map(content),
    enclosure: child(item, 'enclosure')?.attributes.url,
  });
}

function atomEntry(entry, feedUrl) {
  const links = children(entry, 'link');
  const page = links.find(({ attributes }) => (attributes.rel ?? 'alternate') === 'alternate') ?? links[0];
  return makeItem({
    guid: textOf(entry, 'id'),
    title: textOf(entry, 'title'),
    link: absoluteUrl(page?.attributes.href, feedUrl),
    published: textOf(entry, 'published') ?? textOf(entry, 'updated'),
    description: textOf(entry, 'summary'),
    content: textOf(entry, 'content'),
    author: textOf(child(entry, 'author'), 'name'),
    categories: children(entry, 'category').map(({ attributes }) => attributes.label ?? attributes.term ?? ''),
    enclosure: links.find(({ attributes }) => attributes.rel === 'enclosure')?.attributes.href,
  });
}

function makeItem({ guid, title, link, published, ...rest }) {
  const id = guid || link || `${title} ${published}`;
  const timestamp = Date.parse(published ?? '');
  return {
    // Events with longer ids are refused; a hash tells them apart as well.
    id: id.length > MAX_ID_CHARS ? createHash('sha256').update(id).digest('hex') : id,
    guid,
    title: title ?? '',
    link,
    published,
    timestamp: Number.isNaN(timestamp) ? undefined : timestamp,
    ...rest,
  };
}

function absoluteUrl(link, feedUrl) {
  return link && URL.canParse(link, feedUrl) ? new URL(link, feedUrl).href : link;
}

function children(element, name) {
  return element?.nodes.filter((node) => node.name === name) ?? [];
}

function child(element, name) {
  return children(element, name)[0];
}

/** All text inside, that of inner elements included. */
function content(element) {
  const read = (node) => (typeof node === 'string' ? node : node.nodes.map(read).join(''));
  return read(element).trim();
}

function textOf(element, name) {
  const found = child(element, name);
  return found === undefined ? undefined : content(found);
}

const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>[]*(?:\[[\s\S]*?\])?[^>]*>|<(\/?)([^\s/>]+)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>|[^<]+|</g;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Reads XML into `{ name, attributes, nodes }`, where a node is a text or an element, and names
 * keep the prefix they are written with. Forgiving: an end tag closes what it names, and a stray
 * one is ignored.
 */
function parseXml(xml) {
  const root = { name: '', attributes: {}, nodes: [] };
  const open = [root];
  for (const [token, cdata, slash, name, attributes, selfClosing] of xml.matchAll(TOKEN)) {
    const { nodes } = open.at(-1);
    if (cdata !== undefined) nodes.push(cdata);
    else if (name === undefined) {
      if (token[0] !== '<') nodes.push(decodeEntities(token));
    } else if (slash === '/') {
      const at = open.findLastIndex((element) => element.name === name);
      if (at > 0) open.length = at;
    } else {
      const element = { name, attributes: readAttributes(attributes), nodes: [] };
      nodes.push(element);
      if (selfClosing === '') open.push(element);
    }
  }
  return root;
}

function readAttributes(text) {
  const attributes = {};
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) attributes[name] = decodeEntities(double ?? single);
  return attributes;
}

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }));

/**
 * The entities of XML, and the one of HTML that feeds use without declaring it. Others stay as they
 * are.
 */
function decodeEntities(text) {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name) => {
    if (name[0] !== '#') return ENTITIES.get(name) ?? whole;
    const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
