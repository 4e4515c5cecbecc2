import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import type { PropFieldProps } from './prop-form.tsx';
import { labelOf, textOf } from './prop-definition.ts';

/** Properties of a field, from the prop's definition. */
export function fieldOf({ definition, errors }: Pick<PropFieldProps, 'definition' | 'errors'>) {
  const { description, optional } = definition;
  return {
    label: labelOf(definition),
    errors,
    ...(description === undefined ? {} : { description: <Markdown text={description} /> }),
    optional: optional === true,
  };
}

const placeholderOf = (value: unknown) => (value === undefined ? {} : { placeholder: `${textOf(value)} (default)` });

export function StringField({ definition, value, onChange, errors }: PropFieldProps) {
  const text = textOf(value);
  const isLong = text.length > 80 || text.includes('\n');
  const change = (next: string) => onChange(next === '' ? undefined : next);
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) =>
        isLong ? (
          <textarea
            {...ids}
            rows={5}
            className={INPUT_CLASS}
            value={text}
            onChange={({ target }) => change(target.value)}
          />
        ) : (
          <input
            {...ids}
            className={INPUT_CLASS}
            disabled={definition.disabled}
            value={text}
            {...placeholderOf(definition.default)}
            onChange={({ target }) => change(target.value)}
          />
        )
      }
    </Field>
  );
}

/** The API never returns a secret: the stored one stays unless the user types a new one. */
export function SecretField({ definition, value, onChange, errors }: PropFieldProps) {
  const [isShown, setShown] = useState(false);
  const isKept = typeof value === 'object' && value !== null;
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <div className="flex gap-2">
          <input
            {...ids}
            type="text"
            autoComplete="off"
            spellCheck={false}
            className={classNames(INPUT_CLASS, 'font-mono', !isShown && '[-webkit-text-security:disc]')}
            value={typeof value === 'string' ? value : ''}
            placeholder={isKept ? 'stored; type to replace it' : ''}
            onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
          />
          <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Show'}
          </Button>
        </div>
      )}
    </Field>
  );
}

export function NumberField({ definition, value, onChange, errors }: PropFieldProps) {
  const { min, max, type } = definition;
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          className={INPUT_CLASS}
          value={textOf(value)}
          {...(min === undefined ? {} : { min })}
          {...(max === undefined ? {} : { max })}
          step={type === 'integer' ? 1 : 'any'}
          {...placeholderOf(definition.default)}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      )}
    </Field>
  );
}

export function BooleanField({ definition, value, onChange, errors }: PropFieldProps) {
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <input
          {...ids}
          type="checkbox"
          className="size-4 self-start accent-accent"
          checked={(value ?? definition.default) === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      )}
    </Field>
  );
}

/** Objects and other JSON values. Invalid JSON stays in the field and is not sent. */
export function JsonField({ definition, value, onChange, errors }: PropFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)));
  const [fault, setFault] = useState<string>();
  const change = (next: string) => {
    setText(next);
    if (next.trim() === '') {
      setFault(undefined);
      return onChange(undefined);
    }
    try {
      const parsed: unknown = JSON.parse(next);
      setFault(undefined);
      onChange(parsed);
    } catch (error) {
      setFault(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    return undefined;
  };
  return (
    <Field {...fieldOf({ definition, errors: fault === undefined ? errors : [fault, ...errors] })}>
      {(ids) => (
        <textarea
          {...ids}
          rows={4}
          spellCheck={false}
          className={`${INPUT_CLASS} font-mono text-xs`}
          value={text}
          placeholder={definition.default === undefined ? '{ }' : JSON.stringify(definition.default)}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  );
}

const ALERTS: Record<string, string> = {
  info: 'border-info/30 bg-info-soft',
  neutral: 'border-line bg-sunken',
  warning: 'border-warn/30 bg-warn-soft',
  error: 'border-bad/30 bg-bad-soft',
};

export function AlertNote({ definition }: PropFieldProps) {
  const { alertType = 'info', content = '' } = definition;
  return (
    <div role="note" className={classNames('rounded-md border px-3 py-2 text-sm', ALERTS[alertType] ?? ALERTS['info'])}>
      <Markdown text={content} />
    </div>
  );
}
