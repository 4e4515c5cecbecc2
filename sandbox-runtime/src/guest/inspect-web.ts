import { GuestAbortController, GuestAbortSignal } from './abort.ts';
import { GuestBlob, GuestFile } from './blob.ts';
import { GuestEvent } from './event-target.ts';
import { GuestFormData } from './form-data.ts';
import { GuestHeaders, headerPairs } from './headers.ts';
import { giveName } from './node/give-names.ts';
import { CUSTOM, inspect, type InspectOptions } from './node/inspect.ts';
import { GuestRequest } from './request.ts';
import { GuestResponse } from './response.ts';
import { GuestTextDecoder, GuestTextEncoder } from './text-encoding.ts';
import { GuestUrl } from './url.ts';
import { GuestUrlSearchParams } from './url-search-params.ts';
import { STREAM_CLASSES } from './web-streams.ts';

type Members = [string, unknown][];
interface Shown {
  prototype: object;
}

const MEMBERS: [Shown, string][] = [
  [GuestUrl, 'href origin protocol username password host hostname port pathname search searchParams hash'],
  [GuestBlob, 'size type'],
  [GuestFile, 'size type name lastModified'],
  [GuestResponse, 'status statusText headers body bodyUsed ok redirected type url'],
  [
    GuestRequest,
    'method url headers destination referrer referrerPolicy mode credentials cache redirect integrity keepalive isReloadNavigation isHistoryNavigation signal',
  ],
  [GuestAbortController, 'signal'],
  [GuestAbortSignal, 'aborted'],
  [GuestEvent, 'type defaultPrevented cancelable timeStamp'],
  [GuestTextDecoder, 'encoding fatal ignoreBOM'],
];

/** The fields of the streams' package, of which a part is shown. */
const STATE = '_state';
const CONTROLLER = '_readableStreamController';
const BACKPRESSURE = '_backpressure';

/**
 * Objects of the web platform have no members of their own: each class says what `console` shows of
 * it, as in Node.
 */
export function completeWebInspect(): void {
  for (const [Class, names] of MEMBERS)
    show(Class, (value) => names.split(' ').map((name) => [name, (value as Record<string, unknown>)[name]]));
  show(GuestHeaders, (value) => joinedHeaders(value as GuestHeaders));
  show(GuestFormData, (value) => [...(value as unknown as FormData).entries()]);
  // Node's own has no name.
  define(GuestTextEncoder, (value, options) =>
    inspect({ encoding: (value as { encoding: string }).encoding }, options),
  );
  define(GuestUrlSearchParams, inspectSearchParams);
  const { ReadableStream, WritableStream, TransformStream, ReadableByteStreamController } =
    STREAM_CLASSES as unknown as Record<string, Shown & (new () => object)>;
  show(ReadableStream as Shown, (value) => {
    const { locked, [STATE]: state, [CONTROLLER]: controller } = value as Record<string, unknown>;
    const supportsBYOB = controller instanceof (ReadableByteStreamController as new () => object);
    return Object.entries({ locked, state, supportsBYOB });
  });
  show(WritableStream as Shown, (value) => {
    const { locked, [STATE]: state } = value as Record<string, unknown>;
    return Object.entries({ locked, state });
  });
  show(TransformStream as Shown, (value) => {
    const { readable, writable, [BACKPRESSURE]: backpressure } = value as Record<string, unknown>;
    return Object.entries({ readable, writable, backpressure });
  });
}

function show(Class: Shown, members: (value: object) => Members): void {
  define(Class, (value, options) => `${nameOf(value)} ${inspect(Object.fromEntries(members(value)), options)}`);
}

function define(Class: Shown, shown: (value: object, options: InspectOptions) => string): void {
  const custom = giveName(function (this: object, depth: number | null, options: InspectOptions): unknown {
    if (typeof depth === 'number' && depth < 0) return `[${nameOf(this)}]`;
    try {
      return shown(this, options);
    } catch {
      // An object that only has such a prototype is shown like any other object.
      return this;
    }
  }, '[nodejs.util.inspect.custom]');
  Object.defineProperty(Class.prototype, CUSTOM, { value: custom, configurable: true, writable: true });
}

function nameOf(value: object): string {
  return (value as { constructor?: { name?: string } }).constructor?.name ?? 'Object';
}

/** Values of one name stand together. */
function joinedHeaders(headers: GuestHeaders): Members {
  const joined = new Map<string, string>();
  for (const [name, value] of headerPairs(headers)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...joined];
}

function inspectSearchParams(value: object, options: InspectOptions): string {
  const pairs = [...(value as URLSearchParams).entries()];
  const items = pairs.map(([key, item]) => `${inspect(key, options)} => ${inspect(item, options)}`);
  const line = items.join(', ');
  if (items.length === 0) return `${nameOf(value)} {}`;
  return line.length > (options.breakLength ?? 80)
    ? `${nameOf(value)} {\n  ${items.join(',\n  ')} }`
    : `${nameOf(value)} { ${line} }`;
}
