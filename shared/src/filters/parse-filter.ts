import type { Fault, FieldError } from '../errors.ts';
import { platformLimit, type PlatformLimitName } from '../exceeded-limit.ts';
import { LIMITS } from '../limits/platform-limits.ts';
import { didYouMean } from '../nearest-names.ts';
import { type Check, type Comparison, COMPARISONS, type FieldFilter, type Filter } from './filter.ts';
import { findOperandFault, isScalar } from './operands.ts';

export type FilterOutcome = { kind: 'filter'; filter: Filter } | { kind: 'fault'; fault: FieldError };

const OPERATORS: readonly string[] = [...COMPARISONS, '$and', '$or', '$not'];

/** Checks a JSON value that is to be a filter. `path`: how a fault names it. */
export function parseFilter(json: unknown, path = 'filter'): FilterOutcome {
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(json) ?? '').length;
    if (bytes > LIMITS.maxFilterBytes) throw over(path, 'maxFilterBytes', bytes, 'bytes as JSON');
    if (!isObject(json)) throw new FilterFault(path, { message: 'must be an object of names and conditions' });
    return { kind: 'filter', filter: new Parser().filter(json, path, 1) };
  } catch (error) {
    if (error instanceof FilterFault) return { kind: 'fault', fault: { path: error.path, ...error.fault } };
    throw error;
  }
}

class FilterFault extends Error {
  readonly path: string;
  readonly fault: Fault;
  constructor(path: string, fault: Fault) {
    super(fault.message);
    this.path = path;
    this.fault = fault;
  }
}

function over(path: string, name: PlatformLimitName, used: number, what: string): FilterFault {
  const limit = platformLimit(name, used);
  return new FilterFault(path, { message: `must have at most ${limit.value} ${what}`, limit });
}

class Parser {
  #conditions = 0;

  filter(json: unknown, path: string, depth: number): Filter {
    if (isScalar(json)) {
      this.#count(path, 1);
      return { ...empty(json), checks: [{ operator: '$eq', operand: json }] };
    }
    if (depth > LIMITS.maxFilterDepth) throw over(path, 'maxFilterDepth', depth, 'objects and lists within each other');
    if (Array.isArray(json)) return { ...empty(json), elements: this.#list(json, path, depth) };
    if (isObject(json)) return this.#object(json, path, depth);
    throw new FilterFault(path, { message: 'must be a JSON value' });
  }

  #object(json: object, path: string, depth: number): Filter {
    const entries = Object.entries(json) as [string, unknown][];
    if (entries.length === 0) throw new FilterFault(path, { message: 'must name a member or an operator' });
    this.#count(path, entries.length);
    const [checks, fields]: [Check[], FieldFilter[]] = [[], []];
    let [and, or, not]: [Filter[], Filter[], Filter | undefined] = [[], [], undefined];
    for (const [name, value] of entries) {
      const at = `${path}.${name}`;
      if (!name.startsWith('$')) {
        fields.push({ name, path: name.split('.'), filter: this.filter(value, at, depth + 1) });
      } else if (name === '$and') and = this.#alternatives(value, at, depth + 1);
      else if (name === '$or') or = this.#alternatives(value, at, depth + 1);
      else if (name === '$not') not = this.filter(value, at, depth + 1);
      else checks.push(this.#check(name, value, at, depth + 1));
    }
    const namesFields = fields.length > 0 || [...and, ...or].some((one) => one.namesFields);
    return { ...empty(json), checks, fields, and, or, not, namesFields };
  }

  #check(name: string, operand: unknown, path: string, depth: number): Check {
    if (!OPERATORS.includes(name)) {
      throw new FilterFault(path, { message: `is not an operator; ${didYouMean(name, OPERATORS)}` });
    }
    const operator = name as Comparison;
    const fault = findOperandFault(operator, operand, LIMITS.maxFilterDepth - depth);
    if (fault !== undefined) throw new FilterFault(path, fault);
    this.#count(path, Array.isArray(operand) ? operand.length : 1);
    return { operator, operand };
  }

  #alternatives(json: unknown, path: string, depth: number): Filter[] {
    if (Array.isArray(json)) return this.#list(json, path, depth);
    throw new FilterFault(path, { message: 'must be a list of filters' });
  }

  #list(json: readonly unknown[], path: string, depth: number): Filter[] {
    if (json.length === 0) throw new FilterFault(path, { message: 'must not be empty' });
    return json.map((one, at) => this.filter(one, `${path}[${at}]`, depth + 1));
  }

  #count(path: string, more: number): void {
    this.#conditions += more;
    const max = LIMITS.maxFilterConditions;
    if (this.#conditions > max) throw over(path, 'maxFilterConditions', this.#conditions, 'conditions');
  }
}

function empty(json: unknown): Filter {
  return { json, checks: [], fields: [], elements: [], and: [], or: [], not: undefined, namesFields: false };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
