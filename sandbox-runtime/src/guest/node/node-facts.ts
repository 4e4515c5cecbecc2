/**
 * Facts about the Node.js that builds the guest, so that no constant is copied by hand; see
 * build/node-facts.ts.
 */
export interface NodeFacts {
  /** By module: names of its functions and classes, and its plain values. */
  exports: Partial<Record<string, { functions: string[]; values: Record<string, unknown> }>>;
  zlibConstants: Record<string, number>;
  osConstants: Record<string, Record<string, number>>;
  fsConstants: Record<string, number>;
  cryptoConstants: Record<string, number | string>;
  httpMethods: string[];
  statusCodes: Record<string, string>;
  version: string;
  versions: Record<string, string>;
  builtinModules: string[];
}

/** Put in by the bundler. */
declare const HEADWATER_NODE_FACTS: NodeFacts;

export const NODE_FACTS: NodeFacts = HEADWATER_NODE_FACTS;
