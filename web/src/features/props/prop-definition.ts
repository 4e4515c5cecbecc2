/** A prop as the API describes it in `configurable_props`. */
export interface PropDefinition {
  name: string;
  type: string;
  label?: string;
  description?: string;
  optional?: boolean;
  default?: unknown;
  secret?: boolean;
  min?: number;
  max?: number;
  /** Static choices, or true where the component computes them. */
  options?: unknown;
  useQuery?: boolean;
  reloadProps?: boolean;
  hidden?: boolean;
  disabled?: boolean;
  app?: string;
  alertType?: string;
  content?: string;
}

export type PropValues = Readonly<Record<string, unknown>>;

export interface Choice {
  label: string;
  value: unknown;
}

export const labelOf = ({ label, name }: PropDefinition) => label ?? name;

/** Nothing is given for these: the deployment makes them. */
const GIVEN_BY_NOBODY = new Set(['$.interface.http', '$.service.db', 'dir']);

export function isShown({ type, hidden }: PropDefinition): boolean {
  return hidden !== true && !GIVEN_BY_NOBODY.has(type);
}

export const isList = ({ type }: PropDefinition) => type.endsWith('[]');

export const baseType = ({ type }: PropDefinition) => type.replace(/\[\]$/, '');

export const hasComputedOptions = ({ options }: PropDefinition) => options === true;

/**
 * The choices that stand in the definition: texts, numbers, or objects with a label and a value.
 */
export function staticChoices({ options }: PropDefinition): Choice[] | undefined {
  if (!Array.isArray(options) || options.length === 0) return undefined;
  return options.map(propChoiceOf);
}

export function propChoiceOf(option: unknown): Choice {
  if (typeof option !== 'object' || option === null) return { label: String(option), value: option };
  const { label, value } = option as Partial<Choice>;
  return { label: label ?? textOf(value), value };
}

/** The text that an input shows of a value; values chosen with their label are unwrapped. */
export function textOf(value: unknown): string {
  const plain = withoutLabel(value);
  if (plain === undefined || plain === null) return '';
  return typeof plain === 'object' ? JSON.stringify(plain, undefined, 2) : String(plain as string | number | boolean);
}

export function withoutLabel(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('__lv' in value)) return value;
  const wrapped = value['__lv'];
  return typeof wrapped === 'object' && wrapped !== null && 'value' in wrapped ? wrapped.value : wrapped;
}
