/* core-js brings no types; its modules are imported for what they install. */
declare module 'core-js/actual/*';

/* The npm packages behind Node's modules: the slash keeps them apart from Node's own. */
declare module 'events/' {
  export { EventEmitter } from 'node:events';
}
