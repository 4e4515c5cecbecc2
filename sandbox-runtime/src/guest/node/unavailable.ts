import { NODE_FACTS } from './node-facts.ts';
import type { UnavailableName } from '../builtin-names.ts';
import { notAvailable } from './errors.ts';

const { exports: NODE_EXPORTS } = NODE_FACTS;

const REASONS: Partial<Record<string, string>> = {
  child_process: 'components cannot start processes',
  cluster: 'components cannot start processes',
  dgram: 'components reach other hosts by HTTP only',
  dns: 'names are resolved when a request is made',
  http2: 'use http, https or fetch',
  net: 'components reach other hosts by HTTP only; use http, https or fetch',
  tls: 'components reach other hosts by HTTP only; use https or fetch',
  vm: 'code cannot be compiled in other contexts',
};

/**
 * A module with every name that Node's has, so that any way of importing it works. Functions throw
 * when they are called and classes when they are constructed; both can be passed on and extended
 * before that.
 */
export function makeUnavailable(
  name: UnavailableName | 'net' | 'dns' | 'tls' | 'cluster' | 'vm',
): Record<string, unknown> {
  const { functions, values } = NODE_EXPORTS[name] ?? { functions: [], values: {} };
  const module: Record<string, unknown> = { ...values };
  for (const member of functions) {
    module[member] = makeRefusal(`${name}.${member}`, REASONS[name.replace('/promises', '')]);
  }
  return module;
}

function makeRefusal(what: string, reason: string | undefined): unknown {
  const refuse = function refuse(): never {
    throw notAvailable(what, reason);
  };
  Object.defineProperty(refuse, 'name', { value: what.slice(what.lastIndexOf('.') + 1) });
  return refuse;
}
