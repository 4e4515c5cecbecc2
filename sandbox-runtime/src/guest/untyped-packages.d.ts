/* core-js has no types; its modules are imported for their side effects. */
declare module 'core-js/actual/*';

/* The npm packages behind Node's modules: the slash keeps them apart from Node's own. */
declare module 'events/' {
  export { EventEmitter } from 'node:events';
}
declare module 'string_decoder/' {
  export { StringDecoder } from 'node:string_decoder';
}
declare module 'readable-stream/lib/stream.js' {
  import stream from 'node:stream';
  export default stream;
}
declare module 'readable-stream/lib/ours/errors.js' {
  export const codes: Record<string, new (...args: unknown[]) => Error>;
}
declare module 'path-browserify' {
  import path from 'node:path';
  export default path;
}
