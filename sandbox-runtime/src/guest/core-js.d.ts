/* core-js brings no types; its modules are imported for what they install. */
declare module 'core-js/actual/*';
