import type {
  ComponentDescription,
  ComponentType,
  DedupeStrategy,
  ExceededLimit,
  FieldError,
  HookName,
  PlatformLimitName,
} from '@headwater/shared';
import {
  COMPONENT_TYPES,
  findTooManyOfOutline,
  firstLimit,
  isStorableJson,
  LIMITS,
  platformLimit,
} from '@headwater/shared';
import { describeLimit } from '../bridge/exceeded-limit.ts';
import type { DescribeOutcome } from '../sandbox-types.ts';
import { judgeProps, MAX_ERRORS, MAX_SHOWN_NAME_CHARS } from './judge-props.ts';

const HOOKS: readonly HookName[] = ['deploy', 'activate', 'deactivate'];
const STRATEGIES: readonly DedupeStrategy[] = ['unique', 'greatest', 'last'];

/** A key is a part of URLs: `GET /v1/components/{key}`. */
const KEY = /^[\w.~-]+$/;

type Outline = Record<string, unknown>;

/** Version for the code of a workflow step, where a version has no use. */
const STEP_VERSION = '0.0.1';

/**
 * Validates a component's exports, as the sandbox outlined them. Reports all errors at once.
 * `stepName`: the code is a step's, and may be only a `run`.
 */
export function judgeOutline(text: string, stepName?: string): DescribeOutcome {
  // Before it is parsed, which takes the node's thread.
  const tooMany = findTooManyOfOutline(text);
  if (tooMany !== undefined) return refuse(`The description of the component ${tooMany.message}`, tooMany.limit);
  const read = readOutline(text);
  const outline = read === undefined || stepName === undefined ? read : withStepDefaults(read, stepName);
  if (outline === undefined) return refuse('The component could not be read');
  const tooLarge = exceededOf(outline['limit']);
  if (tooLarge !== undefined) return refuse(describeLimit(tooLarge), tooLarge);
  const failure = outline['error'];
  if (isObject(failure))
    return refuse(`The component could not be read: ${textOr(failure['message'], 'it gives no reason')}`);
  if (!isStorableJson(text))
    return refuse(
      'The description of the component has a NUL character or half of a surrogate pair, which cannot be stored',
    );
  if (outline['exported'] !== 'object') {
    return refuse(
      'The module must export the component as its default export: export default { name, version, run() {} }',
    );
  }
  const errors: FieldError[] = [];
  const description = describe(outline, errors);
  if (errors.length === 0) return { ok: true, description };
  const limit = firstLimit(errors);
  return { ok: false, errors: errors.slice(0, MAX_ERRORS), ...(limit === undefined ? {} : { limit }) };
}

/** A component that declares a name and version is treated like any other. */
function withStepDefaults(outline: Outline, name: string): Outline {
  const isGiven = (field: string) => outline[field] !== undefined && outline[field] !== null;
  if (isGiven('name') && isGiven('version')) return outline;
  const given = Object.entries(outline).filter(([field]) => isGiven(field));
  return { name, version: STEP_VERSION, type: 'action', ...Object.fromEntries(given) };
}

function describe(outline: Outline, errors: FieldError[]): ComponentDescription {
  const type = judgeType(outline['type'], errors);
  const description: ComponentDescription = {
    name: requiredText(outline, 'name', 'maxNameChars', errors),
    version: requiredText(outline, 'version', 'maxNameChars', errors),
    type,
    hooks: judgeHooks(outline['hooks'], type, errors),
    props: judgeProps(outline['props'], errors),
    hasAdditionalProps: outline['additionalProps'] === 'function',
  };
  if (type === 'transform') judgeTransform(description, errors);
  const key = optionalText(outline, 'key', 'maxNameChars', errors);
  if (key !== undefined && !KEY.test(key))
    errors.push({ path: 'key', message: 'key must consist of letters, digits and the characters _ - . ~' });
  if (key !== undefined) description.key = key;
  const text = optionalText(outline, 'description', 'maxDescriptionChars', errors);
  if (text !== undefined) description.description = text;
  const dedupe = judgeDedupe(outline['dedupe'], errors);
  // Real actions share their definition with a source; they emit nothing that could be
  // deduplicated.
  if (dedupe !== undefined && type === 'source') description.dedupe = dedupe;
  if (outline['run'] === 'undefined')
    errors.push({ path: 'run', message: 'run is missing: the method that is called for each event' });
  else if (outline['run'] !== 'function')
    errors.push({
      path: 'run',
      message: `run must be a method, not a ${textOr(outline['run'], 'value of another kind')}`,
    });
  return description;
}

function judgeType(type: unknown, errors: FieldError[]): ComponentType {
  if (type === undefined || type === null) return 'source';
  const found = COMPONENT_TYPES.find((one) => one === type);
  if (found !== undefined) return found;
  errors.push({ path: 'type', message: "type must be 'source', 'action' or 'transform'" });
  return 'source';
}

/** A transform has no props, because a webhook cannot configure them. */
function judgeTransform({ props, hasAdditionalProps }: ComponentDescription, errors: FieldError[]): void {
  if (props.length > 0 || hasAdditionalProps)
    errors.push({ path: 'props', message: 'a transform has no props: its run gets the request, and nothing else' });
}

function judgeHooks(hooks: unknown, type: ComponentType, errors: FieldError[]): HookName[] {
  if (hooks === undefined) return [];
  if (!isObject(hooks)) {
    errors.push({ path: 'hooks', message: 'hooks must be an object of methods' });
    return [];
  }
  const names = Object.keys(hooks).filter((name) => hooks[name] !== 'undefined');
  if (type !== 'source' && names.length > 0)
    errors.push({
      path: 'hooks',
      message: `${type === 'action' ? 'an action' : 'a transform'} has no lifecycle hooks`,
    });
  for (const name of names.slice(0, MAX_ERRORS)) {
    const path = `hooks.${name.slice(0, MAX_SHOWN_NAME_CHARS)}`;
    if (!HOOKS.some((hook) => hook === name)) errors.push({ path, message: `is not one of ${HOOKS.join(', ')}` });
    else if (hooks[name] !== 'function') errors.push({ path, message: 'must be a method' });
  }
  return HOOKS.filter((hook) => hooks[hook] === 'function');
}

function judgeDedupe(dedupe: unknown, errors: FieldError[]): DedupeStrategy | undefined {
  if (dedupe === undefined || dedupe === null) return undefined;
  const strategy = STRATEGIES.find((candidate) => candidate === dedupe);
  if (strategy === undefined)
    errors.push({ path: 'dedupe', message: `dedupe must be one of ${STRATEGIES.join(', ')}` });
  return strategy;
}

function requiredText(outline: Outline, name: string, maxChars: PlatformLimitName, errors: FieldError[]): string {
  const text = optionalText(outline, name, maxChars, errors);
  const wasGiven = outline[name] !== undefined && outline[name] !== null;
  if (text === '' || !wasGiven) errors.push({ path: name, message: `${name} is missing` });
  return text ?? '';
}

function optionalText(
  outline: Outline,
  name: string,
  maxChars: PlatformLimitName,
  errors: FieldError[],
): string | undefined {
  const value = outline[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    errors.push({ path: name, message: `${name} must be a string, not a ${typeof value}` });
    return undefined;
  }
  const limit = platformLimit(maxChars, value.length);
  if (limit.used > limit.value)
    errors.push({ path: name, message: `${name} is longer than ${limit.value} characters`, limit });
  return value;
}

function readOutline(text: string): Outline | undefined {
  if (text.length > LIMITS.maxOutlineChars) return undefined;
  try {
    const outline = JSON.parse(text) as unknown;
    return isObject(outline) ? outline : undefined;
  } catch {
    // It comes from the sandbox: no JSON is as good as no outline.
    return undefined;
  }
}

const OF_OUTLINES = ['maxOutlineChars', 'maxPropDepth', 'maxPropDefinitionValues'] as const;

/**
 * Size of an outline that is too large to transfer. The sandbox sends it, so only the name and that
 * number are read.
 */
function exceededOf(limit: unknown): ExceededLimit | undefined {
  if (!isObject(limit)) return undefined;
  const name = OF_OUTLINES.find((one) => one === limit['name']);
  if (name === undefined || !Number.isSafeInteger(limit['used'])) return undefined;
  const exceeded = platformLimit(name, limit['used'] as number);
  return exceeded.used > exceeded.value ? exceeded : undefined;
}

function refuse(message: string, limit?: ExceededLimit): DescribeOutcome {
  return { ok: false, errors: [{ path: 'component_code', message }], ...(limit === undefined ? {} : { limit }) };
}

/** The guest may have written a value of any type there. */
function textOr(value: unknown, other: string): string {
  return typeof value === 'string' ? value : other;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
